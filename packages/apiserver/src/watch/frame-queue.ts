import type { WatchFrame } from "@setpoint/apimachinery";

/**
 * Live frames that wait for one slow reader. Beyond it the watch is ended, as a real server does; the client
 * resumes from its last resourceVersion. The frames are shared with other watches, so this bounds pointers,
 * not copies.
 */
export const watchFramesMax = 100_000;

/**
 * The frames of one watch: pushed by the storage, pulled by one reader. `onClose` is called exactly once,
 * when the stream ends for whatever reason.
 */
export class FrameQueue implements AsyncIterableIterator<WatchFrame> {
  #frames: WatchFrame[] = [];
  /** The sizes of the frames, at the same places. */
  #sizes: number[] = [];
  #first = 0;
  #bytes = 0;
  readonly #bytesMax: number;
  #waiting: PromiseWithResolvers<IteratorResult<WatchFrame>> | undefined;
  #end: { readonly error?: unknown } | undefined;
  readonly #onClose: () => void;

  /** `bytesMax` bounds the sizes of live frames that are not read. */
  constructor(onClose: () => void, bytesMax: number = Infinity) {
    this.#onClose = onClose;
    this.#bytesMax = bytesMax;
  }

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Initial state, which may be larger than the limit for live frames. */
  pushAll(frames: readonly WatchFrame[]): void {
    for (const frame of frames) this.#append(frame, 0);
  }

  push(frame: WatchFrame, bytes = 0): void {
    this.#append(frame, bytes);
    // A reader that is this far behind resumes from the last frame that it has read, if the history goes back
    // that far.
    if (this.#bytes > this.#bytesMax) this.#cut();
    else if (this.#frames.length - this.#first > watchFramesMax) this.end();
  }

  /** Ends the stream after the frames that are in it. */
  end(): void {
    this.#close({});
  }

  /** Ends the stream at once, with an error for the reader. */
  fail(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#forget();
    this.#close({ error });
  }

  next(): Promise<IteratorResult<WatchFrame>> {
    const frame = this.#frames[this.#first];
    if (frame !== undefined) {
      this.#bytes -= this.#sizes[this.#first] ?? 0;
      this.#first++;
      // Cut when half of it was read, so that a queue that is never quite empty does not keep everything it
      // ever held.
      if (this.#first * 2 >= this.#frames.length) {
        this.#frames = this.#frames.slice(this.#first);
        this.#sizes = this.#sizes.slice(this.#first);
        this.#first = 0;
      }
      return Promise.resolve({ done: false, value: frame });
    }
    if (this.#end !== undefined) return this.#ended();
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  return(): Promise<IteratorResult<WatchFrame>> {
    this.#cut();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Ends the stream at once, without the frames that are in it. */
  #cut(): void {
    this.#forget();
    this.#close({});
  }

  #forget(): void {
    this.#frames = [];
    this.#sizes = [];
    this.#first = 0;
    this.#bytes = 0;
  }

  #append(frame: WatchFrame, bytes: number): void {
    if (this.#end !== undefined) return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#frames.push(frame);
      this.#sizes.push(bytes);
      this.#bytes += bytes;
    } else {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: frame });
    }
  }

  #close(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) waiting.resolve(this.#ended());
    this.#onClose();
  }

  /** The error is thrown once; then the stream is simply over. */
  #ended(): Promise<IteratorResult<WatchFrame>> {
    const error = this.#end?.error;
    this.#end = {};
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }
}
