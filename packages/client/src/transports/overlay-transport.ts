/** A dry run of a whole program: reads see what it pretended to write, and the server is never written to. */
import {
  isJsonObject,
  type ApiRequest,
  type ApiResponse,
  type Transport,
  type UnstructuredObject,
  type WatchFrame,
} from "@setpoint/apimachinery";
import type { Clock, Random } from "@setpoint/host";
import { notFound, tooMany } from "./overlay-answers.ts";
import { OverlaySelection } from "./overlay-selection.ts";
import { OverlayWatch } from "./overlay-watch.ts";
import { OverlayWriter } from "./overlay-writer.ts";
import { PretendedKinds } from "./pretended-kinds.ts";
import { asObject, type PretendedObject, PretendedObjects, withDeltas, withRevision } from "./pretended-objects.ts";
import type { PretendedWrite } from "./pretended-write.ts";
import { parseResourceRequest } from "./resource-request.ts";
import { WorldRevisions } from "./world-revision.ts";

/** How an overlay transport reports pretended writes, and after how many it refuses more. */
export interface OverlayOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Told of every write in the moment in which its outcome is known. */
  readonly onWrite?: (write: PretendedWrite) => void;
  /**
   * Pretended writes after which further ones are refused: a program that never rests must end; default
   * 10,000.
   */
  readonly writesMax?: number;
}

const writesMaxDefault = 10_000;

/**
 * Guarantees: every request that could change something is sent with `dryRun=All` (so that the server
 * defaults, validates and merges) or not at all; gets, lists and watches show the pretended state, with
 * revisions that only grow. Caveats: nobody acts on what is pretended (no pod starts, nothing is collected as
 * garbage); the second write of one object is merged here and not validated; a list of an unwatched kind
 * asked for by revision shows the present one.
 */
export class OverlayTransport implements Transport {
  readonly #inner: Transport;
  readonly #revisions = new WorldRevisions();
  readonly #objects = new PretendedObjects();
  readonly #kinds: PretendedKinds;
  readonly #writer: OverlayWriter;
  readonly #watches = new Set<{ readonly watch: OverlayWatch; readonly selection: OverlaySelection }>();
  readonly #writesMax: number;
  #writes = 0;

  constructor(inner: Transport, options: OverlayOptions) {
    this.#inner = inner;
    this.#writesMax = options.writesMax ?? writesMaxDefault;
    this.#kinds = new PretendedKinds(this.#objects);
    this.#writer = new OverlayWriter({
      inner,
      clock: options.clock,
      random: options.random,
      revisions: this.#revisions,
      objects: this.#objects,
      kinds: this.#kinds,
      onChange: (entry, before) => this.#tell(entry, before),
      onWrite: (write) => {
        this.#writes++;
        options.onWrite?.(write);
      },
    });
  }

  /** Every object that would be different. */
  get changed(): readonly PretendedObject[] {
    return this.#objects.all();
  }

  async send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const asked = parseResourceRequest(request);
    if (request.method !== "GET" && request.method !== "HEAD") {
      if (this.#writes >= this.#writesMax) return tooMany(this.#writesMax);
      return this.#writer.write(request, asked, signal);
    }
    if (asked === undefined || asked.subresource === "log") return this.#inner.send(request, signal);
    switch (asked.verb) {
      case "get":
        return this.#get(request, signal);
      case "list":
        return this.#list(request, signal);
      default:
        return this.#watch(request, signal);
    }
  }

  async #get(request: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const asked = parseResourceRequest(request);
    const entry = asked === undefined ? undefined : this.#objects.get(asked);
    if (entry === undefined || asked === undefined || !isOfObject(asked.subresource))
      return this.#ofServer(await this.#inner.send(this.#forServer(request), signal));
    const shown = entry.object;
    if (shown === undefined) return notFound(asked.resource, asked.name);
    return { kind: "object", status: 200, headers: {}, object: new OverlaySelection(request).shown(shown) };
  }

  /** An object of the server, with its revision as this world has it. */
  #ofServer(response: ApiResponse): ApiResponse {
    const object = response.kind === "object" ? asObject(response.object) : undefined;
    if (response.kind !== "object" || object === undefined) return response;
    return { ...response, object: withRevision(object, this.#revisions.ofServer(object.metadata.resourceVersion)) };
  }

  async #list(request: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const selection = new OverlaySelection(request);
    const response = await this.#inner.send(this.#forServer(request), signal);
    if (response.status === 404 && this.#kinds.has(selection.asked)) return this.#listOf([], selection, undefined);
    if (response.kind !== "object" || response.status >= 300 || !isJsonObject(response.object)) return response;
    const { items } = response.object;
    const objects = Array.isArray(items) ? items.map(asObject).filter((each) => each !== undefined) : [];
    return this.#listOf(objects, selection, response);
  }

  #listOf(
    items: readonly UnstructuredObject[],
    selection: OverlaySelection,
    response: Extract<ApiResponse, { kind: "object" }> | undefined,
  ): ApiResponse {
    const pretended = this.#objects.of(selection.asked);
    const list = isJsonObject(response?.object) ? response.object : { kind: "List", apiVersion: "v1" };
    const metadata = isJsonObject(list["metadata"]) ? list["metadata"] : {};
    const isLast = (metadata["continue"] ?? "") === "";
    const real = items.filter(
      ({ metadata: { name, namespace = "" } }) =>
        !pretended.some(({ place }) => place.name === name && place.namespace === namespace),
    );
    // Those that the server has may stand on any page; all stand on the last one here.
    const own = isLast ? pretended.flatMap(({ object }) => (object === undefined ? [] : [object])) : [];
    const shown = own.filter((object) => selection.matches(object)).map((object) => selection.shown(object));
    const told = [...real.map((object) => this.#withWorldRevision(object)), ...shown];
    const revision = this.#revisions.ofServer(String(metadata["resourceVersion"] ?? ""));
    const resourceVersion = pretended.length > 0 || response === undefined ? this.#revisions.next() : revision;
    const object = { ...list, metadata: { ...metadata, resourceVersion }, items: told };
    return { kind: "object", status: 200, headers: response?.headers ?? {}, object };
  }

  #withWorldRevision(object: UnstructuredObject): UnstructuredObject {
    return withRevision(object, this.#revisions.ofServer(object.metadata.resourceVersion));
  }

  async #watch(request: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const selection = new OverlaySelection(request);
    const asked = this.#forServer(request);
    const response = await this.#inner.send(asked, signal);
    if (response.status === 404 && this.#kinds.has(selection.asked))
      return this.#open(request, selection, this.#kinds.emptyWatch(request, signal), {});
    if (response.kind !== "watch") return response;
    return this.#open(request, selection, response.frames, response.headers);
  }

  #open(
    request: ApiRequest,
    selection: OverlaySelection,
    frames: AsyncIterable<WatchFrame>,
    headers: Readonly<Record<string, string>>,
  ): ApiResponse {
    const from = String(request.query?.["resourceVersion"] ?? "");
    const isInitial = request.query?.["sendInitialEvents"] === "true" || from === "" || from === "0";
    const options = {
      selection,
      revisions: this.#revisions,
      pretended: () => this.#objects.of(selection.asked),
      onServerChange: (object: UnstructuredObject, isGone: boolean) => this.#rebase(object, isGone, selection),
      isInitial,
    };
    const open = { selection, watch: new OverlayWatch(frames, options, () => void this.#watches.delete(open)) };
    this.#watches.add(open);
    // What was pretended while nobody watched.
    if (!isInitial) for (const entry of options.pretended()) open.watch.push(entry, entry.base);
    return { kind: "watch", status: 200, headers, frames: open.watch };
  }

  /** Another client has changed, on the server, an object that this program pretends to have changed. */
  #rebase(object: UnstructuredObject, isGone: boolean, { asked }: OverlaySelection): void {
    const { name = "", namespace = "" } = object.metadata;
    const entry = this.#objects.get({ ...asked, name, namespace });
    if (entry === undefined) return;
    const isKnown = entry.base?.metadata.resourceVersion === object.metadata.resourceVersion;
    if (isKnown || entry.base === undefined) return;
    entry.base = isGone ? undefined : object;
    entry.start = entry.base;
    if (entry.object === undefined) return;
    const before = entry.object;
    entry.revision = this.#revisions.next();
    entry.object = isGone ? undefined : withRevision(withDeltas(object, entry.deltas), entry.revision);
    this.#tell(entry, before);
  }

  #tell(entry: PretendedObject, before: UnstructuredObject | undefined): void {
    const { group, resource, namespace } = entry.place;
    for (const { watch, selection } of this.#watches) {
      const { asked } = selection;
      if (asked.group !== group || asked.resource !== resource) continue;
      if (asked.namespace === "" || asked.namespace === namespace) watch.push(entry, before);
    }
  }

  /** Revisions of this world mean nothing to the server. */
  #forServer(request: ApiRequest): ApiRequest {
    const from = request.query?.["resourceVersion"];
    if (typeof from !== "string" || from === "" || from === "0") return request;
    return { ...request, query: { ...request.query, resourceVersion: this.#revisions.toServer(from) } };
  }
}

/** Whether a read of this subresource shows the whole object. */
function isOfObject(subresource: string): boolean {
  return subresource === "" || subresource === "status";
}

/** A transport that pretends to write; `onWrite` hears of each write. */
export function overlayTransport(inner: Transport, options: OverlayOptions): OverlayTransport {
  return new OverlayTransport(inner, options);
}
