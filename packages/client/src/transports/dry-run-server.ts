import {
  isJsonObject,
  type ApiRequest,
  type ApiResponse,
  type JsonObject,
  type Transport,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { asObjectOf, isRefusal, type Write } from "./predicted-write.ts";
import type { PretendedObject } from "./pretended-objects.ts";
import type { WorldRevisions } from "./world-revision.ts";

/** The server as a plan uses it: asked, and never told. */
export class DryRunServer {
  readonly #inner: Transport;
  readonly #revisions: WorldRevisions;

  constructor(inner: Transport, revisions: WorldRevisions) {
    this.#inner = inner;
    this.#revisions = revisions;
  }

  /**
   * The server's answer, were it asked in earnest. `known`: the object, when it is pretended to have changed.
   * Its revision is one that the server does not have, so the caller compares it with that of the request.
   */
  dryRun({ request, signal }: Write, known?: PretendedObject): Promise<ApiResponse> {
    const query = { ...request.query, dryRun: "All" };
    const body = this.#forServer(request.body, known);
    return this.#inner.send({ ...request, query, ...bodyOf(request.method, body) }, signal);
  }

  /** Bodies may name revisions and UIDs of this world, as preconditions. */
  #forServer(body: unknown, known: PretendedObject | undefined): unknown {
    if (!isJsonObject(body)) return body;
    const { metadata, preconditions } = body;
    return {
      ...body,
      ...(metadata === undefined ? {} : { metadata: this.#preconditions(metadata, known) }),
      ...(preconditions === undefined ? {} : { preconditions: this.#preconditions(preconditions, known) }),
    };
  }

  #preconditions(part: unknown, known: PretendedObject | undefined): unknown {
    if (!isJsonObject(part)) return part;
    const { resourceVersion, ...rest } = part;
    if (known !== undefined) return known.base === undefined ? withoutUid(rest) : rest;
    if (typeof resourceVersion !== "string" || resourceVersion === "") return part;
    return { ...part, resourceVersion: this.#revisions.toServer(resourceVersion) };
  }

  /** The object itself; undefined when it is not there or may not be read. */
  async read({ asked, request, signal }: Write): Promise<UnstructuredObject | undefined> {
    const suffix = asked.subresource === "" ? "" : `/${asked.subresource}`;
    const path = suffix === "" ? request.path : request.path.slice(0, -suffix.length);
    const response = await this.#inner.send({ method: "GET", path }, signal);
    return isRefusal(response) ? undefined : asObjectOf(response);
  }
}

/**
 * A server takes the options of a deletion from its body, and then none from the query: the dry run must
 * stand in both.
 */
function bodyOf(method: ApiRequest["method"], body: unknown): { readonly body?: unknown } {
  if (method !== "DELETE") return body === undefined ? {} : { body };
  const options = isJsonObject(body) ? body : { kind: "DeleteOptions", apiVersion: "v1" };
  return { body: { ...options, dryRun: ["All"] } };
}

/** The server does not have an object that was only pretended to be created, so it would refuse its UID. */
function withoutUid({ uid: _uid, ...rest }: JsonObject): JsonObject {
  return rest;
}
