/**
 * The server's side of a SPDY/3.1 connection, over any two-way stream of bytes: a socket, or a WebSocket that
 * tunnels it.
 */
import { Duplex } from "node:stream";
import { EmptyHeaderWriter, HeaderReader } from "./header-codec.ts";
import { dataFrame, FrameReader, pingFrame, replyFrame, resetFrame, type SpdyFrame } from "./spdy-frames.ts";

/** A stream that the client has opened. */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly #session: SpdySession;

  constructor(session: SpdySession, id: number, headers: ReadonlyMap<string, string>) {
    super({ allowHalfOpen: true });
    this.#session = session;
    this.id = id;
    this.headers = headers;
    // A client that goes away resets its streams; who reads them notices by the close.
    this.on("error", () => {});
  }

  override _read(): void {
    this.#session.readOn(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#session.send(dataFrame(this.id, chunk), done);
  }

  override _final(done: () => void): void {
    this.#session.send(dataFrame(this.id, Buffer.alloc(0), true), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#session.forget(this);
    done(error);
  }
}

export interface SpdySessionOptions {
  /** Streams at a time; more are refused. */
  readonly streamsMax: number;
  onStream(this: void, stream: SpdyStream): void;
}

export class SpdySession {
  readonly #carrier: Duplex;
  readonly #options: SpdySessionOptions;
  readonly #frames = new FrameReader();
  readonly #headerReader = new HeaderReader();
  readonly #headerWriter = new EmptyHeaderWriter();
  readonly #streams = new Map<number, SpdyStream>();
  /** Writers of streams, until the carrier takes more. */
  readonly #waiting: (() => void)[] = [];
  /** The stream that holds the connection back until its reader has read. */
  #full: { readonly stream: SpdyStream; release(): void } | undefined;

  constructor(carrier: Duplex, options: SpdySessionOptions) {
    this.#carrier = carrier;
    this.#options = options;
    carrier.once("close", () => this.#end());
    carrier.on("drain", () => this.#releaseWriters());
    carrier.on("error", () => carrier.destroy());
    void this.#serve();
  }

  /** `done` is called when the client may be sent more. */
  send(frame: Buffer, done: () => void = () => {}): void {
    if (!this.#carrier.writable) return done();
    if (this.#carrier.write(frame)) return done();
    this.#waiting.push(done);
  }

  #releaseWriters(): void {
    for (const done of this.#waiting.splice(0)) done();
  }

  /** A stream takes more. */
  readOn(stream: SpdyStream): void {
    if (this.#full?.stream === stream) this.#full.release();
  }

  forget(stream: SpdyStream): void {
    this.readOn(stream);
    if (!this.#streams.delete(stream.id)) return;
    const isComplete = stream.readableEnded && stream.writableFinished;
    if (!isComplete) this.send(resetFrame(stream.id));
  }

  async #serve(): Promise<void> {
    try {
      for await (const chunk of this.#carrier) for (const frame of this.#frames.read(chunk)) await this.#take(frame);
      this.#carrier.end();
    } catch {
      // A client that breaks the protocol, or is gone.
      this.#carrier.destroy();
    }
  }

  async #take(frame: SpdyFrame): Promise<void> {
    if (frame.kind === "open") return this.#open(frame);
    if (frame.kind === "ping") return this.send(pingFrame(frame.id));
    if (frame.kind === "reset") return void this.#streams.get(frame.stream)?.destroy();
    if (frame.kind !== "data") return;
    const stream = this.#streams.get(frame.stream);
    if (stream === undefined) return;
    // Without flow control of its own, one full stream holds the connection back.
    if (frame.payload.length > 0 && !stream.push(frame.payload)) await this.#untilRead(stream);
    if (frame.isLast) stream.push(null);
  }

  async #open({ stream: id, isLast, headerBlock }: SpdyFrame & { kind: "open" }): Promise<void> {
    // Read in any case: the blocks are one compressed text.
    const headers = await this.#headerReader.read(headerBlock);
    if (this.#streams.has(id) || this.#streams.size >= this.#options.streamsMax) return this.send(resetFrame(id));
    const stream = new SpdyStream(this, id, headers);
    this.#streams.set(id, stream);
    this.send(replyFrame(id, await this.#headerWriter.write()));
    if (isLast) stream.push(null);
    this.#options.onStream(stream);
  }

  #untilRead(stream: SpdyStream): Promise<void> {
    return new Promise((release) => {
      this.#full = { stream, release };
    });
  }

  #end(): void {
    this.#headerReader[Symbol.dispose]();
    this.#headerWriter[Symbol.dispose]();
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    for (const stream of streams) stream.destroy();
    this.#releaseWriters();
  }
}
