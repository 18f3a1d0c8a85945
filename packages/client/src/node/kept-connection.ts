/** A connection that carries one request after the other and is kept for the next. */
import type { Socket } from "node:net";
import { AnswerBody, type BodySource } from "./answer-body.ts";
import { type AnswerHead, AnswerParser } from "./answer-parser.ts";
import { connectionLost } from "./connection-lost.ts";

/** A request as it is sent. */
export interface OutgoingRequest {
  readonly method: string;
  /** The request line and the headers, with the empty line at their end. */
  readonly head: string;
  readonly body: string | Uint8Array | undefined;
  /**
   * When silence of the server means nothing: `never`; in the `body`, as of a watch; or `always`: of what a
   * container prints, and of another server behind this one.
   */
  readonly silence: "never" | "body" | "always";
  readonly signal: AbortSignal | undefined;
}

export interface IncomingAnswer extends AnswerHead {
  readonly body: AnswerBody;
}

/** Who owns a connection. */
export interface ConnectionOwner {
  /** The answer is whole: the connection may carry the next request. */
  freed(connection: KeptConnection): void;
  closed(connection: KeptConnection): void;
}

/** The operating system asks a silent peer whether it is there. */
const keepAliveMs = 30_000;

/** One request and what has come of its answer. */
class Exchange {
  readonly request: OutgoingRequest;
  readonly body: AnswerBody;
  readonly #answered: PromiseWithResolvers<IncomingAnswer> = Promise.withResolvers();
  readonly #source: BodySource;
  #hasHead = false;

  constructor(request: OutgoingRequest, source: BodySource) {
    this.request = request;
    this.body = new AnswerBody(source);
    this.#source = source;
    request.signal?.addEventListener("abort", this);
  }

  get isWaiting(): boolean {
    const { silence } = this.request;
    return (silence === "never" || (silence === "body" && !this.#hasHead)) && !this.body.isPaused;
  }

  get answered(): Promise<IncomingAnswer> {
    return this.#answered.promise;
  }

  /** The signal has aborted. */
  handleEvent(): void {
    const reason: unknown = this.request.signal?.reason;
    this.#answered.reject(reason);
    this.body.abort(reason);
    this.#source.destroy();
  }

  head(head: AnswerHead): void {
    this.#hasHead = true;
    this.#answered.resolve({ ...head, body: this.body });
  }

  end(): void {
    this.request.signal?.removeEventListener("abort", this);
    this.body.end();
  }

  fail(cause: unknown): void {
    this.request.signal?.removeEventListener("abort", this);
    const error = connectionLost(cause);
    this.#answered.reject(error);
    this.body.fail(error);
  }
}

export class KeptConnection implements BodySource {
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #parser: AnswerParser;
  #exchange: Exchange | undefined;
  /** Whether another request may follow the one that is on it. */
  #isKept = true;
  #bytesRead = 0;
  #error: unknown;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#parser = new AnswerParser({
      head: (head, isLast) => this.#onHead(head, isLast),
      data: (chunk) => this.#exchange?.body.push(chunk),
      end: () => this.#onEnd(),
    });
    // A connection that carries no request keeps no process alive.
    socket.unref();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("error", (error) => {
      this.#error = error;
    });
    socket.once("end", () => this.#onLastWord());
    socket.once("close", () => this.#onClose());
  }

  get isOpen(): boolean {
    return this.#isKept && !this.#socket.destroyed && this.#socket.writable;
  }

  /** Whether an answer, or more of it, is waited for. */
  get isWaiting(): boolean {
    return this.#exchange?.isWaiting ?? false;
  }

  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** Resolves when the head of the answer is there. Only for a connection that carries no other request. */
  send(request: OutgoingRequest): Promise<IncomingAnswer> {
    const socket = this.#socket;
    const exchange = new Exchange(request, this);
    this.#exchange = exchange;
    this.#parser.expect(request.method);
    socket.ref();
    if (typeof request.body !== "object") socket.write(request.head + (request.body ?? ""));
    else {
      socket.cork();
      socket.write(request.head);
      socket.write(request.body);
      socket.uncork();
    }
    return exchange.answered;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Carries no further request; closed now, or when the answer that it brings is whole. */
  retire(): void {
    this.#isKept = false;
    if (this.#exchange === undefined) this.destroy();
  }

  destroy(error?: Error): void {
    this.#isKept = false;
    this.#socket.destroy(error);
  }

  #onData(chunk: Buffer): void {
    this.#bytesRead += chunk.length;
    // Nobody has asked: what comes next on this connection could be taken for the answer to another request.
    if (this.#exchange === undefined) return this.destroy();
    try {
      this.#parser.push(chunk);
    } catch (cause) {
      this.destroy(cause as Error);
    }
  }

  #onHead(head: AnswerHead, isLast: boolean): void {
    if (this.#exchange === undefined) throw new Error("an answer came that nobody has asked for");
    if (isLast) this.#isKept = false;
    this.#exchange.head(head);
  }

  #onEnd(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.end();
    // The server has answered before it had the whole request: what is still to be sent would be read as the
    // next one.
    if (!this.isOpen || this.#socket.writableLength > 0) return this.destroy();
    this.#socket.unref();
    this.#owner.freed(this);
  }

  /** Nothing comes after it, so that a body that says no length ends here. */
  #onLastWord(): void {
    this.#parser.close();
    this.destroy();
  }

  #onClose(): void {
    this.#isKept = false;
    this.#exchange?.fail(this.#error);
    this.#exchange = undefined;
    this.#owner.closed(this);
  }
}
