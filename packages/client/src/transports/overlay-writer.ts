/**
 * Pretends writes: asks the server for a dry run where it can, and works the result out here where it cannot.
 */
import {
  failure,
  isJsonObject,
  type ApiRequest,
  type ApiResponse,
  type Status,
  type Transport,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { randomSuffix, timestamp, type Clock, type Random } from "@setpoint/host";
import { DryRunServer } from "./dry-run-server.ts";
import { alreadyExists, answer, notFound, refuse, success } from "./overlay-answers.ts";
import { OverlaySelection } from "./overlay-selection.ts";
import type { PretendedKinds } from "./pretended-kinds.ts";
import {
  asObject,
  deltaOf,
  isSameContent,
  type ObjectPlace,
  type PretendedObject,
  type PretendedObjects,
  withDeltas,
  withGeneration,
  withRevision,
} from "./pretended-objects.ts";
import type { PretendedWrite } from "./pretended-write.ts";
import type { ResourceRequest } from "./resource-request.ts";
import {
  appliedDelta,
  applyType,
  asObjectOf,
  conflictOf,
  isFinished,
  isRefusal,
  keepIdentity,
  mustPredict,
  pathOf,
  placeOf,
  predictWrite,
  type Write,
} from "./predicted-write.ts";
import type { WorldRevisions } from "./world-revision.ts";

export interface OverlayWriterOptions {
  readonly inner: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly revisions: WorldRevisions;
  readonly objects: PretendedObjects;
  readonly kinds: PretendedKinds;
  /** `before` is what it was; undefined: it is new. */
  onChange(this: void, entry: PretendedObject, before: UnstructuredObject | undefined): void;
  onWrite(this: void, write: PretendedWrite): void;
}

/** Groups whose objects are questions: nothing is stored, so they may be asked. */
const questionGroups: ReadonlySet<string> = new Set(["authorization.k8s.io", "authentication.k8s.io"]);

export class OverlayWriter {
  readonly #options: OverlayWriterOptions;
  readonly #server: DryRunServer;
  #count = 0;

  constructor(options: OverlayWriterOptions) {
    this.#options = options;
    this.#server = new DryRunServer(options.inner, options.revisions);
  }

  async write(request: ApiRequest, asked: ResourceRequest | undefined, signal?: AbortSignal): Promise<ApiResponse> {
    if (asked !== undefined && questionGroups.has(asked.group)) return this.#options.inner.send(request, signal);
    if (asked === undefined) return refuse(405, `${request.method} ${request.path} cannot be pretended`);
    const write = { request, asked, signal };
    if (request.query?.["dryRun"] !== undefined) return this.#askOnly(write);
    if (asked.verb === "deletecollection") return this.#deleteAll(write);
    if (asked.verb === "create") return asked.subresource === "" ? this.#create(write) : this.#createSub(write);
    if (asked.verb === "delete") return this.#delete(write);
    return this.#change(write);
  }

  /** The program's own dry run: it is not part of the plan. */
  #askOnly(write: Write): Promise<ApiResponse> {
    const known = this.#options.objects.get(write.asked);
    const conflict = known?.object === undefined ? undefined : conflictOf(write.request, known.object);
    return conflict === undefined ? this.#server.dryRun(write, known) : Promise.resolve(conflict);
  }

  #create(write: Write): Promise<ApiResponse> {
    const body = asObject(write.request.body);
    if (body === undefined) return Promise.resolve(refuse(400, "only JSON objects can be pretended to be created"));
    const name = body.metadata.name ?? `${body.metadata.generateName ?? ""}${randomSuffix(this.#options.random, 5)}`;
    const named = { ...body, metadata: { ...body.metadata, name } };
    return this.#createAs({ ...write, request: { ...write.request, body: named } }, named, this.#creatorOf(write));
  }

  /** A new object, by POST or by an apply of what is not there. */
  async #createAs(write: Write, body: UnstructuredObject, creator: string): Promise<ApiResponse> {
    const { asked } = write;
    const place = { ...placeOf(asked), name: body.metadata.name ?? "" };
    const known = this.#options.objects.get(place);
    if (known?.object !== undefined) return this.#refused(write, place, known.object, alreadyExists(place));
    const response = known === undefined ? await this.#server.dryRun(write) : undefined;
    if (response !== undefined && isRefusal(response) && !this.#mustPretend(response, asked))
      return this.#refused(write, place, undefined, response);
    const answered = response !== undefined && !isRefusal(response) ? asObjectOf(response) : undefined;
    const start = this.#stored(answered ?? body, place, asked);
    const entry = { place, base: known?.base, start, object: start, revision: "", deltas: new Map(), creator };
    return this.#commit(write, entry, undefined, start, answered !== undefined);
  }

  /** What the server would have filled in. */
  #stored(object: UnstructuredObject, place: ObjectPlace, asked: ResourceRequest): UnstructuredObject {
    const { clock, random, kinds } = this.#options;
    const { metadata } = object;
    return {
      ...object,
      kind: object.kind ?? kinds.kindOf(asked) ?? "",
      metadata: {
        ...metadata,
        ...(place.namespace === "" ? {} : { namespace: place.namespace }),
        uid: metadata.uid ?? random.uuid(),
        creationTimestamp: metadata.creationTimestamp ?? timestamp(clock),
        generation: metadata.generation ?? 1,
      },
    };
  }

  async #change(write: Write): Promise<ApiResponse> {
    const { asked, request } = write;
    if (asked.subresource === "scale") return this.#scale(write);
    const known = this.#options.objects.get(asked);
    const isApply = request.headers?.["content-type"] === applyType;
    if (known?.object !== undefined) return this.#changeAgain(write, known, known.object);
    if (known !== undefined || this.#options.kinds.has(asked)) {
      const body = asObject(request.body);
      if (!isApply || body === undefined || asked.subresource !== "") return notFound(asked.resource, asked.name);
      return this.#createAs(write, body, this.#creatorOf(write));
    }
    const base = await this.#server.read(write);
    if (base === undefined) {
      const body = asObject(request.body);
      if (isApply && body !== undefined && asked.subresource === "")
        return this.#createAs(write, body, this.#creatorOf(write));
      return this.#server.dryRun(write);
    }
    return this.#changeFirst(write, base);
  }

  /** An object of the server, as the server would change it. */
  async #changeFirst(write: Write, base: UnstructuredObject): Promise<ApiResponse> {
    const response = await this.#server.dryRun(write);
    if (isRefusal(response) && !mustPredict(response))
      return this.#refused(write, placeOf(write.asked), this.#own(base), response);
    const answered = isRefusal(response) ? undefined : asObjectOf(response);
    const after = answered ?? predictWrite(write, base);
    if (after === undefined) return response;
    const place = placeOf(write.asked);
    const deltas = new Map([[this.#creatorOf(write), deltaOf(base, after)]]);
    const entry = { place, base, start: base, object: base, revision: "", deltas, creator: "" };
    return this.#commit(write, entry, this.#own(base), after, answered !== undefined);
  }

  #own(object: UnstructuredObject): UnstructuredObject {
    return withRevision(object, this.#options.revisions.ofServer(object.metadata.resourceVersion));
  }

  async #changeAgain(write: Write, known: PretendedObject, present: UnstructuredObject): Promise<ApiResponse> {
    const conflict = conflictOf(write.request, present);
    if (conflict !== undefined) return this.#refused(write, known.place, present, conflict);
    const creator = this.#creatorOf(write);
    const isApply = write.request.headers?.["content-type"] === applyType;
    const mayAsk = isApply && this.#mayAsk(write, known, creator);
    const answered = mayAsk ? await this.#server.dryRun(write, known) : undefined;
    if (answered !== undefined && isRefusal(answered) && !this.#mustPretend(answered, write.asked))
      return this.#refused(write, known.place, present, answered);
    const fresh = answered === undefined || isRefusal(answered) ? undefined : asObjectOf(answered);
    const deltas = new Map(known.deltas);
    let { start } = known;
    if (fresh !== undefined && known.base !== undefined) deltas.set(creator, deltaOf(known.base, fresh));
    else if (fresh !== undefined) start = keepIdentity(present, fresh);
    else {
      const after = predictWrite(write, present);
      if (after === undefined) return refuse(415, "this form of a patch cannot be pretended");
      deltas.set(creator, isApply ? appliedDelta(write) : deltaOf(present, after));
    }
    if (start === undefined) return notFound(write.asked.resource, write.asked.name);
    const after = withDeltas(start, deltas);
    return this.#commit(write, { ...known, start, deltas }, present, after, fresh !== undefined);
  }

  /**
   * The server can say what an apply makes of its own object, or of nothing when it was this manager who
   * created it.
   */
  #mayAsk({ asked }: Write, known: PretendedObject, creator: string): boolean {
    if (known.base !== undefined) return true;
    return asked.subresource === "" && known.creator === creator && !this.#options.kinds.has(asked);
  }

  async #scale(write: Write): Promise<ApiResponse> {
    const response = await this.#server.dryRun(write, this.#options.objects.get(write.asked));
    const replicas = asObjectOf(response)?.["spec"];
    if (isRefusal(response) || !isJsonObject(replicas)) return response;
    const path = write.request.path.replace(/\/scale$/, "");
    const headers = { "content-type": "application/merge-patch+json" };
    // Where a kind keeps its replicas elsewhere than in spec.replicas, the plan shows the usual place.
    const request = { ...write.request, method: "PATCH" as const, path, headers, body: { spec: replicas } };
    await this.#change({ ...write, request, asked: { ...write.asked, subresource: "" } });
    return response;
  }

  /** Evictions and bindings change the pod; other subresources (tokens) are only asked. */
  async #createSub(write: Write): Promise<ApiResponse> {
    const { asked, request } = write;
    if (["exec", "attach", "portforward", "proxy"].includes(asked.subresource.split("/")[0] ?? ""))
      return refuse(405, `${asked.resource}/${asked.subresource} acts on what runs, which cannot be pretended`);
    const response = await this.#server.dryRun(write);
    if (isRefusal(response)) return response;
    const path = request.path.slice(0, -asked.subresource.length - 1);
    const whole = { ...asked, subresource: "" };
    if (asked.subresource === "eviction") {
      const options = isJsonObject(request.body) ? request.body["deleteOptions"] : undefined;
      await this.#delete({
        ...write,
        request: { method: "DELETE", path, body: options },
        asked: { ...whole, verb: "delete" },
      });
    }
    return response;
  }

  async #delete(write: Write): Promise<ApiResponse> {
    const { asked } = write;
    const known = this.#options.objects.get(asked);
    if (known !== undefined && known.object === undefined) return notFound(asked.resource, asked.name);
    const present = known?.object ?? (await this.#server.read(write));
    if (present === undefined) return notFound(asked.resource, asked.name);
    const shown = known === undefined ? this.#own(present) : present;
    const conflict = conflictOf(write.request, shown);
    if (conflict !== undefined) return this.#refused(write, placeOf(asked), shown, conflict);
    const isOnServer = known === undefined || known.base !== undefined;
    const response = isOnServer ? await this.#server.dryRun(write, known) : undefined;
    if (response !== undefined && isRefusal(response) && !mustPredict(response))
      return this.#refused(write, placeOf(asked), shown, response);
    const base = known?.base ?? (known === undefined ? present : undefined);
    const after = this.#deleted(present, response);
    const deltas = new Map(known?.deltas);
    if (after !== undefined)
      deltas.set("delete", { metadata: { deletionTimestamp: after.metadata.deletionTimestamp } });
    const origin = { base, start: known?.start ?? base, creator: known?.creator ?? "" };
    const entry = { place: placeOf(asked), ...origin, deltas, object: present, revision: "" };
    return this.#commit(write, entry, shown, after, response !== undefined);
  }

  /** Undefined when it would be gone at once; else the object with its mark. */
  #deleted(present: UnstructuredObject, response: ApiResponse | undefined): UnstructuredObject | undefined {
    const marked = response === undefined ? undefined : asObjectOf(response)?.metadata;
    const isKept = (present.metadata.finalizers?.length ?? 0) > 0 || marked?.deletionTimestamp !== undefined;
    if (!isKept) return undefined;
    const deletionTimestamp =
      present.metadata.deletionTimestamp ?? marked?.deletionTimestamp ?? timestamp(this.#options.clock);
    return { ...present, metadata: { ...present.metadata, deletionTimestamp } };
  }

  async #deleteAll(write: Write): Promise<ApiResponse> {
    const { asked, request, signal } = write;
    const { labelSelector, fieldSelector } = request.query ?? {};
    const query = {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    const list = await this.#options.inner.send({ method: "GET", path: request.path, query }, signal);
    const items = list.kind === "object" && isJsonObject(list.object) ? list.object["items"] : [];
    const selection = new OverlaySelection({ ...request, method: "GET" });
    const pretended = this.#options.objects.of(asked).flatMap(({ object }) => (object === undefined ? [] : [object]));
    const onServer = (Array.isArray(items) ? items : []).map(asObject).filter((each) => each !== undefined);
    const isPretended = ({ metadata }: UnstructuredObject): boolean =>
      this.#options.objects.get({ ...asked, name: metadata.name ?? "", namespace: metadata.namespace ?? "" }) !==
      undefined;
    const untouched = onServer.filter((object) => !isPretended(object));
    for (const { metadata } of [...untouched, ...pretended.filter((object) => selection.matches(object))]) {
      const { name = "", namespace = "" } = metadata;
      const place = { ...asked, name, namespace, verb: "delete" as const };
      await this.#delete({
        ...write,
        request: { ...request, path: `${pathOf(place)}/${name}`, query: {} },
        asked: place,
      });
    }
    return { kind: "object", status: 200, headers: {}, object: success };
  }

  /** An apply of the same manager to the same part replaces the one before; everything else comes on top. */
  #creatorOf({ request, asked }: Write): string {
    if (request.headers?.["content-type"] !== applyType) return `write ${++this.#count}`;
    return `apply ${String(request.query?.["fieldManager"])} ${asked.subresource}`;
  }

  /**
   * Whether the server cannot know: the kind itself is only pretended, or it was not asked in a way that it
   * answers.
   */
  #mustPretend(response: ApiResponse, asked: ResourceRequest): boolean {
    return mustPredict(response) || (response.status === 404 && this.#isOnlyHere(asked));
  }

  /** The kind, or the namespace that it would be in. */
  #isOnlyHere(asked: ResourceRequest): boolean {
    if (this.#options.kinds.has(asked)) return true;
    const namespace = { group: "", resource: "namespaces", namespace: "", name: asked.namespace };
    return asked.namespace !== "" && this.#options.objects.get(namespace)?.object !== undefined;
  }

  #commit(
    write: Write,
    entry: PretendedObject,
    before: UnstructuredObject | undefined,
    after: UnstructuredObject | undefined,
    isServerChecked: boolean,
  ): ApiResponse {
    const { objects, revisions, onChange, onWrite } = this.#options;
    const counted = before === undefined || after === undefined ? after : withGeneration(before, after);
    if (before !== undefined && counted !== undefined && isSameContent(before, counted)) return answer(200, before);
    const revision = revisions.next();
    const isGone = counted === undefined || isFinished(counted);
    const shown = counted === undefined ? undefined : withRevision(counted, revision);
    const committed = { ...entry, revision, object: isGone ? undefined : shown };
    if (isGone) committed.start = undefined;
    objects.set(committed);
    const { asked, request } = write;
    const { verb, subresource } = asked;
    onWrite({ verb, place: entry.place, subresource, request, before, after: committed.object, isServerChecked });
    onChange(committed, before);
    return answer(before === undefined ? 201 : 200, asked.verb === "delete" && isGone ? success : shown);
  }

  #refused(
    { asked, request }: Write,
    place: ObjectPlace,
    before: UnstructuredObject | undefined,
    response: ApiResponse,
  ): ApiResponse {
    const { verb, subresource } = asked;
    const refused = response.kind === "object" ? (response.object as Status) : failure(response.status, "", "refused");
    this.#options.onWrite({
      verb,
      place,
      subresource,
      request,
      before,
      after: undefined,
      refused,
      isServerChecked: true,
    });
    return response;
  }
}
