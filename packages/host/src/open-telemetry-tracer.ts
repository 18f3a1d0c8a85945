/** Makes a Tracer of OpenTelemetry's API, which is handed in: nothing here depends on its packages. */
import type { Span, SpanAttributes, Tracer } from "./tracer.ts";

interface OtelSpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

interface OtelSpan {
  spanContext(): OtelSpanContext;
  setAttributes(attributes: Record<string, string | number | boolean>): unknown;
  addEvent(name: string, attributes?: Record<string, string | number | boolean>): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  recordException(exception: { name?: string; message: string; stack?: string }): void;
  end(): void;
}

interface OtelTracer<S, C> {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Record<string, string | number | boolean> },
    context?: C,
  ): S;
}

/** What is needed of `@opentelemetry/api`; its module object fits. */
export interface OpenTelemetryApi<S, C> {
  readonly trace: {
    getTracer(name: string): OtelTracer<S, C>;
    setSpan(context: C, span: S): C;
  };
  readonly ROOT_CONTEXT: C;
}

/** Values of OpenTelemetry's enumerations SpanKind and SpanStatusCode. */
const kindInternal = 0;
const kindClient = 2;
const statusError = 2;
const sampledFlag = 1;

/**
 * `openTelemetryTracer(await import("@opentelemetry/api"), "candy-operator")`: spans go where the tracer
 * provider that the program has registered sends them.
 */
export function openTelemetryTracer<S extends OtelSpan, C>(api: OpenTelemetryApi<S, C>, name: string): Tracer {
  const tracer = api.trace.getTracer(name);
  const contexts = new WeakMap<Span, C>();
  return {
    startSpan(spanName, { attributes, parent, kind } = {}) {
      const context = (parent === undefined ? undefined : contexts.get(parent)) ?? api.ROOT_CONTEXT;
      const options = {
        kind: kind === "client" ? kindClient : kindInternal,
        ...(attributes === undefined ? {} : { attributes: { ...attributes } }),
      };
      const inner = tracer.startSpan(spanName, options, context);
      const span = new OpenTelemetrySpan(inner);
      contexts.set(span, api.trace.setSpan(context, inner));
      return span;
    },
  };
}

class OpenTelemetrySpan implements Span {
  readonly #span: OtelSpan;

  constructor(span: OtelSpan) {
    this.#span = span;
  }

  get traceparent(): string | undefined {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    // Ids of zeros are those of a span that nobody keeps.
    if (/^0+$/.test(traceId)) return undefined;
    return `00-${traceId}-${spanId}-${(traceFlags & sampledFlag) === sampledFlag ? "01" : "00"}`;
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes({ ...attributes });
  }

  event(name: string, attributes: SpanAttributes = {}): void {
    this.#span.addEvent(name, { ...attributes });
  }

  end(error?: unknown): void {
    if (error !== undefined) {
      const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
      this.#span.recordException({ name, message, ...(stack === undefined ? {} : { stack }) });
      this.#span.setStatus({ code: statusError, message });
    }
    this.#span.end();
  }
}
