import {
  isJsonObject,
  type ApiRequest,
  type ApiResponse,
  type Transport,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { asObjectOf, isRefusal, type Write } from "./predicted-write.ts";
import type { WorldRevisions } from "./world-revision.ts";

/** The server as a plan uses it: asked, and never told. */
export class DryRunServer {
  readonly #inner: Transport;
  readonly #revisions: WorldRevisions;

  constructor(inner: Transport, revisions: WorldRevisions) {
    this.#inner = inner;
    this.#revisions = revisions;
  }

  /** The server's answer, were it asked in earnest. */
  dryRun({ request, signal }: Write): Promise<ApiResponse> {
    const query = { ...request.query, dryRun: "All" };
    const body = this.#forServer(request.body);
    return this.#inner.send({ ...request, query, ...bodyOf(request.method, body) }, signal);
  }

  /** Bodies may name revisions of this world, as preconditions. */
  #forServer(body: unknown): unknown {
    if (!isJsonObject(body)) return body;
    const translate = (part: unknown): unknown => {
      if (!isJsonObject(part) || typeof part["resourceVersion"] !== "string" || part["resourceVersion"] === "")
        return part;
      return { ...part, resourceVersion: this.#revisions.toServer(part["resourceVersion"]) };
    };
    const { metadata, preconditions } = body;
    return {
      ...body,
      ...(metadata === undefined ? {} : { metadata: translate(metadata) }),
      ...(preconditions === undefined ? {} : { preconditions: translate(preconditions) }),
    };
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
