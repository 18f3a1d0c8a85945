import type { Span, SpanAttributes, Tracer } from "../tracer.ts";

/** One span as it was, in a test. */
export interface RecordedSpan {
  readonly name: string;
  readonly id: number;
  /** The id of the span that it is a part of. */
  readonly parentId: number | undefined;
  readonly attributes: SpanAttributes;
  readonly events: readonly string[];
  readonly isEnded: boolean;
  readonly error: unknown;
}

class KeptSpan implements Span, RecordedSpan {
  readonly name: string;
  readonly id: number;
  readonly parentId: number | undefined;
  readonly events: string[] = [];
  attributes: SpanAttributes;
  isEnded = false;
  error: unknown;

  constructor(name: string, id: number, parentId: number | undefined, attributes: SpanAttributes) {
    this.name = name;
    this.id = id;
    this.parentId = parentId;
    this.attributes = attributes;
  }

  get traceparent(): string {
    const traceId = (this.parentId ?? this.id).toString(16).padStart(32, "0");
    return `00-${traceId}-${this.id.toString(16).padStart(16, "0")}-01`;
  }

  set(attributes: SpanAttributes): void {
    this.attributes = { ...this.attributes, ...attributes };
  }

  event(name: string): void {
    this.events.push(name);
  }

  end(error?: unknown): void {
    this.isEnded = true;
    this.error = error;
  }
}

/** A tracer that keeps all spans, numbered from 1 in the order of their starts. */
export class RecordingTracer implements Tracer {
  readonly #spans: KeptSpan[] = [];

  get spans(): readonly RecordedSpan[] {
    return this.#spans;
  }

  startSpan(name: string, options: { readonly attributes?: SpanAttributes; readonly parent?: Span } = {}): Span {
    const parent = options.parent instanceof KeptSpan ? options.parent.id : undefined;
    const span = new KeptSpan(name, this.#spans.length + 1, parent, options.attributes ?? {});
    this.#spans.push(span);
    return span;
  }
}
