import { connectionLost } from "./connection-lost.ts";

/** Above this the connection is not read until the caller has read what came. */
const waitingBytesMax = 1024 * 1024;
/** What a reader gets at once: looking at it takes well below a millisecond. */
const joinedBytesMax = 128 * 1024;

/** What a body needs of the connection that brings it. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Nobody wants what is still to come. */
  destroy(): void;
}

/**
 * The body of an answer while it arrives, for one reader. Reading it to its end or calling `return` gives the
 * connection back.
 *
 * Errors: `ERR_CONNECTION_LOST` when it was cut, because half a body must not look like a whole one; the
 * signal's reason when it aborted.
 */
export class AnswerBody implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined> {
  readonly #source: BodySource;
  #chunks: Buffer[] = [];
  #waitingBytes = 0;
  #isWhole = false;
  #failure: { readonly error: unknown } | undefined;
  #isPaused = false;
  #wake: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** Why it will never be whole. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** The reader is behind, so silence is ours. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > waitingBytesMax && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#wakeReader();
  }

  end(): void {
    this.#isWhole = true;
    // Nothing more comes for this reader, however far behind; the connection is for the next request.
    this.#resume();
    this.#wakeReader();
  }

  fail(error: unknown): void {
    if (this.#isWhole) return;
    this.#failure ??= { error };
    this.#wakeReader();
  }

  /** The reader wants nothing any more, also nothing that came already. */
  abort(reason: unknown): void {
    this.#take();
    this.fail(reason);
  }

  /** All of it at once. */
  async all(): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (;;) {
      for (const chunk of this.#take()) parts.push(chunk);
      if (this.#isWhole) return joined(parts);
      this.#throwIfCut();
      await this.#more();
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      if (this.#chunks.length > 0) {
        const chunk = this.#nextPiece();
        this.#waitingBytes -= chunk.length;
        if (this.#waitingBytes <= waitingBytesMax) this.#resume();
        return { done: false, value: chunk };
      }
      if (this.#isWhole) return { done: true, value: undefined };
      this.#throwIfCut();
      await this.#more();
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#take();
    if (!this.#isWhole && this.#failure === undefined) {
      this.fail(connectionLost(new Error("the reader has stopped")));
      this.#source.destroy();
    }
    return { done: true, value: undefined };
  }

  /**
   * What came while nobody read, in one piece: servers write a few kilobytes at a time, and each piece costs
   * its reader a turn.
   */
  #nextPiece(): Buffer {
    const parts: Buffer[] = [];
    let length = 0;
    for (const chunk of this.#chunks) {
      if (parts.length > 0 && length + chunk.length > joinedBytesMax) break;
      parts.push(chunk);
      length += chunk.length;
    }
    this.#chunks.splice(0, parts.length);
    return joined(parts);
  }

  #take(): readonly Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#waitingBytes = 0;
    this.#resume();
    return chunks;
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  #throwIfCut(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    return promise;
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
}
