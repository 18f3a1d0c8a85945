/**
 * The Transport over HTTPS: HTTP/1.1 on connections of its own, because it costs half of what HTTP/2 costs
 * here (decisions/0015).
 */
import type { Socket } from "node:net";
import {
  encodeJson,
  type ApiRequest,
  type ApiResponse,
  type RawResponse,
  SetpointError,
  type Transport,
  messageOf,
} from "@setpoint/apimachinery";
import { type ClientCredential, fixedHeaders, type HttpConnection, TokenSource } from "./connection-options.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { OutgoingRequest } from "./kept-connection.ts";
import { openSocket } from "./open-socket.ts";
import { type AnswerReader, isWatch, readAnswer } from "./read-answer.ts";
import { readRawAnswer } from "./read-raw-answer.ts";
import { headText, type HeaderValues, target } from "./request-text.ts";

/** A connection, and whether to ask for compressed responses. */
export interface HttpTransportOptions extends HttpConnection {
  /** Ask for compressed lists; default true. */
  readonly gzip?: boolean;
}

/** A Transport that holds connections; dispose of it to close them. */
export type HttpTransport = Transport & AsyncDisposable;

/**
 * Connects when the first request comes, and again when connections are lost.
 *
 * Errors: `ERR_CONNECTION_LOST` when an answer did not come or not to its end, `ERR_CONNECTION_FAILED` when
 * there was no connection, `ERR_TRANSPORT_CLOSED` after disposal; the reason of the signal when it aborts.
 */
export function httpTransport(options: HttpTransportOptions): HttpTransport {
  return new HttpTransportImplementation(options);
}

class HttpTransportImplementation implements HttpTransport {
  readonly #options: HttpTransportOptions;
  readonly #prefix: string;
  readonly #headers: HeaderValues;
  readonly #token: TokenSource;
  readonly #pool: ConnectionPool;
  #credential: ClientCredential = {};
  #refreshCredential = false;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    const { host, pathname } = new URL(options.server);
    this.#prefix = pathname.replace(/\/$/, "");
    this.#headers = { host, ...fixedHeaders(options), accept: "application/json" };
    this.#token = new TokenSource(options);
    const { clock, server } = options;
    this.#pool = new ConnectionPool({ clock, server, open: () => this.#open() });
  }

  send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    return this.#sendAs(readAnswer, request, signal);
  }

  sendRaw(request: ApiRequest, signal?: AbortSignal): Promise<RawResponse> {
    return this.#sendAs(readRawAnswer, request, signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.close();
  }

  async #sendAs<R extends RawResponse>(read: AnswerReader<R>, request: ApiRequest, signal?: AbortSignal): Promise<R> {
    const response = await this.#sendOnce(read, request, signal);
    if (response.status !== 401 || !this.#onUnauthorized()) return response;
    // A refused request has had no effect, so it may be sent again with a new credential.
    return this.#sendOnce(read, request, signal);
  }

  async #sendOnce<R>(read: AnswerReader<R>, request: ApiRequest, signal: AbortSignal | undefined): Promise<R> {
    signal?.throwIfAborted();
    if (this.#options.credential !== undefined) await this.#renewCredential(this.#options.credential);
    return read(request, await this.#pool.send(this.#outgoing(request, signal)), this.#options.clock);
  }

  /** Makes the next request read the token again or use a new credential; false when neither is possible. */
  #onUnauthorized(): boolean {
    this.#token.expire();
    if (this.#options.credential === undefined) return this.#options.tokenFile !== undefined;
    this.#refreshCredential = true;
    return true;
  }

  /**
   * A source of credentials keeps what it has for as long as that is good, so that it can be asked each time.
   */
  async #renewCredential(source: NonNullable<HttpConnection["credential"]>): Promise<void> {
    const refresh = this.#refreshCredential;
    this.#refreshCredential = false;
    const { cert, key } = this.#credential;
    this.#credential = await source(refresh);
    // A connection speaks for whom it was opened with.
    if (cert !== this.#credential.cert || key !== this.#credential.key) this.#pool.retire();
  }

  async #open(): Promise<Socket> {
    try {
      return await openSocket(this.#options, this.#credential);
    } catch (cause) {
      const message = `Cannot connect to "${this.#options.server}": ${messageOf(cause)}`;
      throw new SetpointError("ERR_CONNECTION_FAILED", message, { cause });
    }
  }

  #outgoing(request: ApiRequest, signal: AbortSignal | undefined): OutgoingRequest {
    const { method } = request;
    const body = encodeBody(request.body);
    const head = headText(method, this.#prefix + target(request), this.#requestHeaders(request, body));
    return { method, head, body, silence: silenceOf(request), signal };
  }

  #requestHeaders(request: ApiRequest, body: string | Uint8Array | undefined): HeaderValues {
    const headers: Record<string, string | readonly string[]> = { ...this.#headers };
    const token = this.#credential.token ?? this.#token.current();
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    if (this.#options.gzip !== false && request.method === "GET" && request.query?.["watch"] === undefined)
      headers["accept-encoding"] = "gzip";
    if (body !== undefined) headers["content-type"] = "application/json";
    if (body !== undefined) headers["content-length"] = String(Buffer.byteLength(body));
    return request.headers === undefined ? headers : Object.assign(headers, request.headers);
  }
}

function encodeBody(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array || typeof body === "string") return body;
  return encodeJson(body);
}

/**
 * Logs that are followed, and whatever stands behind the API server, may have nothing to say, not even a
 * head.
 */
function silenceOf(request: ApiRequest): OutgoingRequest["silence"] {
  if (request.query?.["follow"] !== undefined || /\/proxy(?:\/|$)/.test(request.path)) return "always";
  return isWatch(request) ? "body" : "never";
}
