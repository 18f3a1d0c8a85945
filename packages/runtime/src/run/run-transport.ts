import type { ApiRequest, ApiResponse, KubeObject, Transport } from "@setpoint/apimachinery";
import type { Clock, Span, Tracer } from "@setpoint/host";
import type { RunRecorder } from "./run-history.ts";
import type { OnAnswer } from "./run-supervisor.ts";

/** What stands around the writes of one run. */
export interface RunTransportPorts {
  readonly inner: Transport;
  readonly clock: Clock;
  readonly record: Pick<RunRecorder, "write">;
  /** Throws when the run may not write, which it is asked before each write. */
  assertMayWrite(): void;
  readonly onAnswer?: OnAnswer;
  readonly tracer: Tracer | undefined;
  readonly span: Span | undefined;
}

/** The way to the server of one run: its writes are fenced, remembered and traced; reads just pass. */
export class RunTransport implements Transport {
  readonly #ports: RunTransportPorts;
  #writesOnTheirWay = 0;
  #unansweredMs = Number.NEGATIVE_INFINITY;

  constructor(ports: RunTransportPorts) {
    this.#ports = ports;
  }

  /** Writes that were sent and have no answer yet. */
  get writesOnTheirWay(): number {
    return this.#writesOnTheirWay;
  }

  /** When a write was given up last that had no answer, so that it may still arrive. */
  get unansweredMs(): number {
    return this.#unansweredMs;
  }

  send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const { inner } = this.#ports;
    return request.method === "GET" || request.method === "HEAD"
      ? inner.send(request, signal)
      : this.#write(request, signal);
  }

  async #write(request: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
    const { inner, clock, record, tracer, span: parent } = this.#ports;
    this.#ports.assertMayWrite();
    const write = record.write(request.method, request.path);
    const span = tracer === undefined ? undefined : startSpan(tracer, parent, request);
    this.#writesOnTheirWay++;
    try {
      const response = await inner.send(span === undefined ? request : withTraceparent(request, span), signal);
      write.status = response.status;
      if (response.kind === "object" && response.status < 400) {
        write.resourceVersion = revisionOf(response.object);
        if (!isDryRun(request)) this.#ports.onAnswer?.(request, response.object);
      }
      span?.set({ "http.response.status_code": response.status });
      span?.end(response.status < 400 ? undefined : new Error(`the server answered ${response.status}`));
      return response;
    } catch (error) {
      this.#unansweredMs = clock.monotonic();
      span?.end(error);
      throw error;
    } finally {
      this.#writesOnTheirWay--;
    }
  }
}

/** Its answer shows what would be, which no cache will ever show. */
function isDryRun({ query, body }: ApiRequest): boolean {
  return query?.["dryRun"] !== undefined || (body as { readonly dryRun?: unknown } | undefined)?.dryRun !== undefined;
}

function startSpan(tracer: Tracer, parent: Span | undefined, { method, path }: ApiRequest): Span {
  return tracer.startSpan(`${method} ${resourceOf(path)}`, {
    kind: "client",
    attributes: { "http.request.method": method, "url.path": path },
    ...(parent === undefined ? {} : { parent }),
  });
}

/**
 * The path without group, version and names, so that spans of one kind have one name: `configmaps`,
 * `pods/status`.
 */
function resourceOf(path: string): string {
  const segments = path.replace(/^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\//, "").split("/");
  const [resource = "", , subresource] =
    segments[0] === "namespaces" && segments.length > 2 ? segments.slice(2) : segments;
  return subresource === undefined ? resource : `${resource}/${subresource}`;
}

function withTraceparent(request: ApiRequest, { traceparent }: Span): ApiRequest {
  return traceparent === undefined ? request : { ...request, headers: { ...request.headers, traceparent } };
}

function revisionOf(object: unknown): string | undefined {
  // An answer of the API: an object, or a Status without a resourceVersion.
  return (object as Partial<KubeObject> | null)?.metadata?.resourceVersion;
}
