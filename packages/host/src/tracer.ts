/** Spans of what a program does, for a trace collector. */

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Options of `startSpan`. A span without a parent starts a new trace. */
export interface SpanOptions {
  readonly attributes?: SpanAttributes;
  /** The span that this one is a part of; one of the same tracer. */
  readonly parent?: Span;
  /** `client` for a request that is sent. */
  readonly kind?: "internal" | "client";
}

/** One timed operation of a trace. Call `end` exactly once. */
export interface Span {
  /**
   * The W3C header by which the receiver of a request joins the trace; undefined when the trace is not kept.
   */
  readonly traceparent: string | undefined;
  set(attributes: SpanAttributes): void;
  /** Something that happened at this moment. */
  event(name: string, attributes?: SpanAttributes): void;
  /** Ends the span; with an error when it went wrong. */
  end(error?: unknown): void;
}

/** Starts spans. Where finished spans go is up to the implementation. */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
}
