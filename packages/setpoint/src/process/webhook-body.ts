/**
 * Reads the body of a call, which is held in memory as a whole: each of them and all together within limits.
 */
import type { IncomingMessage } from "node:http";
import { ApiError, failure, type StatusReason } from "@setpoint/apimachinery";
import type { RoomHolder, SharedRoom } from "./shared-room.ts";

/** A review has two objects of at most 1.5 MB; a conversion up to 500 objects. */
export const webhookBodyBytesMax: number = 64 * 1024 * 1024;

export const tooLargeMessage: string = `Cannot answer the request: its body is larger than ${webhookBodyBytesMax} bytes`;

/** To be disposed of when the call is over, and its body no longer in memory. Busy when it is complete. */
export class WebhookBody implements RoomHolder, Disposable {
  readonly peer: string;
  readonly #request: IncomingMessage;
  readonly #room: SharedRoom<WebhookBody>;
  readonly #ended = Promise.withResolvers<string>();
  #parts: Buffer[] = [];
  #bytes = 0;
  isBegun = false;
  isBusy = false;

  constructor(request: IncomingMessage, room: SharedRoom<WebhookBody>) {
    this.#request = request;
    this.#room = room;
    this.peer = request.socket.remoteAddress ?? "";
    // It may end before, or without, anybody reading it.
    this.#ended.promise.catch(() => {});
  }

  /** Throws an ApiError that says why there is no body. */
  read(signal: AbortSignal): Promise<string> {
    this.isBegun = true;
    const cut = (): void =>
      this.#fail(400, "BadRequest", "Cannot answer the request: its body was not sent to its end");
    this.#request
      .on("data", (part: Buffer) => this.#add(part))
      .once("end", () => this.#complete())
      .once("error", cut)
      .once("close", cut);
    signal.addEventListener("abort", () => this.#fail(504, "Timeout", "Cannot answer the request: it came too late"));
    return this.#ended.promise;
  }

  #add(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > webhookBodyBytesMax) return this.#fail(413, "RequestEntityTooLarge", tooLargeMessage);
    if (!this.#room.take(this, part.length)) return this.yieldRoom();
    this.#parts.push(part);
  }

  #complete(): void {
    this.isBusy = true;
    const text = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    this.#ended.resolve(text);
  }

  yieldRoom(): void {
    const message = "Cannot answer the request: too many bytes of requests are being read already";
    this.#fail(429, "TooManyRequests", message);
  }

  /** Reads no more; the connection stays open so that the client receives the reason. */
  #fail(code: number, reason: StatusReason, message: string): void {
    if (this.isBusy) return;
    this.#ended.reject(new ApiError(failure(code, reason, message)));
    this.#request.removeAllListeners("data").pause();
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#parts = [];
    this.#room.release(this);
  }
}
