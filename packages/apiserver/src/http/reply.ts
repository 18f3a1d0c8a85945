/** Where a response goes: the same calls for a stream of HTTP/2 and a response of HTTP/1.1. */
import type { ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";
import type { Writable } from "node:stream";

export type ReplyHeaders = Record<string, string | readonly string[]>;

export interface Reply {
  readonly out: Writable;
  /** Whether the head is out already. */
  readonly started: boolean;
  /** Sends status and headers at once; the body follows on `out`. */
  head(status: number, headers: ReplyHeaders): void;
  /** Sends status, headers and all of the body, with as few writes as can be. */
  whole(status: number, headers: ReplyHeaders, body: string): void;
  /**
   * Keeps the connection after an answer that comes before the client has sent its body: closing it would
   * reset what it writes.
   */
  linger?(): void;
  /** Cuts the answer, so that the client notices that it is not complete. */
  cut(): void;
}

/**
 * Node writes a character of a header as one byte; warnings may have any characters, and clients read them as
 * UTF-8.
 */
function inBytes(headers: ReplyHeaders): Record<string, string | string[]> {
  const { warning } = headers;
  const written = headers as Record<string, string | string[]>;
  return typeof warning === "string"
    ? { ...written, warning: Buffer.from(warning, "utf8").toString("latin1") }
    : written;
}

export class Http2Reply implements Reply {
  readonly out: ServerHttp2Stream;

  constructor(stream: ServerHttp2Stream) {
    this.out = stream;
  }

  get started(): boolean {
    return this.out.headersSent;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.out.closed || this.out.destroyed || this.out.headersSent) return;
    this.out.respond({ ":status": status, ...inBytes(headers) });
  }

  whole(status: number, headers: ReplyHeaders, body: string): void {
    this.head(status, headers);
    this.out.end(body);
  }

  cut(): void {
    // 2 is INTERNAL_ERROR.
    if (!this.out.closed) this.out.close(2);
  }
}

export class Http1Reply implements Reply {
  readonly out: ServerResponse;

  constructor(response: ServerResponse) {
    this.out = response;
  }

  get started(): boolean {
    return this.out.headersSent;
  }

  head(status: number, headers: ReplyHeaders): void {
    // Alone, a head is written as UTF-8, whose bytes some of these characters are already; together with
    // bytes it is not.
    if (this.#begin(status, headers) === "text") this.out.flushHeaders();
  }

  whole(status: number, headers: ReplyHeaders, body: string): void {
    const written = this.#begin(status, headers);
    this.out.end(written === "bytes" ? Buffer.from(body) : body);
  }

  /** Whether the header values are text, or bytes that must not be encoded again. */
  #begin(status: number, headers: ReplyHeaders): "text" | "bytes" | undefined {
    if (this.out.destroyed || this.out.headersSent) return undefined;
    const written = inBytes(headers);
    this.out.writeHead(status, written);
    return written["warning"] === headers["warning"] ? "text" : "bytes";
  }

  linger(): void {
    this.out.shouldKeepAlive = true;
  }

  cut(): void {
    this.out.destroy();
  }
}
