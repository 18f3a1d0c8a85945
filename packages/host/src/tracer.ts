/** Spans of what a program does, for whoever collects them. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  readonly attributes?: SpanAttributes;
  /** The span that this one is a part of; one of the same tracer. */
  readonly parent?: Span;
  /** `client` for a request that is sent. */
  readonly kind?: "internal" | "client";
}

export interface Span {
  /** The W3C header by which the receiver of a request joins the trace; undefined when the trace is not kept. */
  readonly traceparent: string | undefined;
  set(attributes: SpanAttributes): void;
  /** Something that happened at this moment. */
  event(name: string, attributes?: SpanAttributes): void;
  /** Ends the span; with an error when it went wrong. */
  end(error?: unknown): void;
}

export interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
}
