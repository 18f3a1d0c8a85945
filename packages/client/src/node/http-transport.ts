/** The Transport over HTTPS: one HTTP/2 connection for everything, HTTP/1.1 where the server knows nothing better. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  type IncomingHttpHeaders,
} from "node:http2";
import type { Agent } from "node:https";
import type { TLSSocket } from "node:tls";
import {
  type ApiRequest,
  type ApiResponse,
  type RawResponse,
  SetpointError,
  type Transport,
  messageOf,
} from "@setpoint/apimachinery";
import type { Timer } from "@setpoint/host";
import {
  type ClientCredential,
  fixedHeaders,
  type HttpConnection,
  tlsOptions,
  TokenSource,
} from "./connection-options.ts";
import { lazyModules } from "./lazy-modules.ts";
import { openTls } from "./open-tls.ts";
import { type AnswerHead, type AnswerReader, connectionLost, readAnswer } from "./read-answer.ts";
import { readRawAnswer } from "./read-raw-answer.ts";

export interface HttpTransportOptions extends HttpConnection {
  /** Ask for compressed lists; default true. */
  readonly gzip?: boolean;
}

/** A Transport that holds connections; dispose of it to close them. */
export type HttpTransport = Transport & AsyncDisposable;

/** A connection that is silent for this long is asked whether it still lives. */
const pingIntervalMs = 30_000;
const pingTimeoutMs = 15_000;
/** What the server may send ahead of our reading: enough for full speed on a list, bounded for a watch. */
const streamWindowBytes = 4 * 1024 * 1024;
const sessionWindowBytes = 16 * 1024 * 1024;
const sessionMegabytesMax = 1_000;

type AgentCallback = (error: Error | null, socket?: TLSSocket) => void;

type Wire = { readonly kind: "http2"; readonly session: ClientHttp2Session } | { readonly kind: "http1" };

/**
 * Connects when the first request comes, and again when a connection was lost.
 *
 * Errors: `ERR_CONNECTION_LOST` when an answer did not come or not to its end, `ERR_CONNECTION_FAILED` when there was no
 * connection; the reason of the signal when it aborts.
 */
export function httpTransport(options: HttpTransportOptions): HttpTransport {
  return new HttpTransportImplementation(options);
}

class HttpTransportImplementation implements HttpTransport {
  readonly #options: HttpTransportOptions;
  readonly #prefix: string;
  readonly #authority: URL;
  readonly #headers: Record<string, string | string[]>;
  readonly #token: TokenSource;
  #wire: Promise<Wire> | undefined;
  /** The connection without the promise around it, for the usual case. */
  #session: ClientHttp2Session | undefined;
  #agent: Agent | undefined;
  /** Those of earlier certificates, for as long as an answer comes over their connections. */
  #retired: readonly Agent[] = [];
  #credential: ClientCredential = {};
  #refreshCredential = false;
  #ping: Timer | undefined;
  #closed = false;

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#authority = new URL(options.server);
    this.#prefix = this.#authority.pathname.replace(/\/$/, "");
    this.#headers = { ...fixedHeaders(options), accept: "application/json" };
    this.#token = new TokenSource(options);
  }

  send(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    return this.#sendAs(readAnswer, request, signal);
  }

  sendRaw(request: ApiRequest, signal?: AbortSignal): Promise<RawResponse> {
    return this.#sendAs(readRawAnswer, request, signal);
  }

  async #sendAs<R extends RawResponse>(read: AnswerReader<R>, request: ApiRequest, signal?: AbortSignal): Promise<R> {
    const response = await this.#sendOnce(read, request, signal);
    if (response.status !== 401 || !this.#onUnauthorized()) return response;
    // A refused request has had no effect, so it may be sent again with a new credential.
    return this.#sendOnce(read, request, signal);
  }

  async #sendOnce<R>(read: AnswerReader<R>, request: ApiRequest, signal: AbortSignal | undefined): Promise<R> {
    signal?.throwIfAborted();
    const session = this.#session;
    const wire: Wire = session === undefined ? await this.#connected() : { kind: "http2", session };
    signal?.throwIfAborted();
    if (wire.kind === "http2") return this.#sendHttp2(wire.session, read, request, signal);
    return this.#sendHttp1(read, request, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#ping?.cancel();
    for (const agent of [this.#agent, ...this.#retired]) agent?.destroy();
    const wire = await this.#wire?.catch(() => undefined);
    if (wire?.kind !== "http2" || wire.session.destroyed) return;
    const closed = new Promise<void>((resolve) => wire.session.once("close", () => resolve()));
    wire.session.destroy();
    await closed;
  }

  /** The next request brings a token read anew, or a new connection with a new credential; false when neither can be had. */
  #onUnauthorized(): boolean {
    this.#token.expire();
    if (this.#options.credential === undefined) return this.#options.tokenFile !== undefined;
    this.#refreshCredential = true;
    this.#forget();
    return true;
  }

  #connected(): Promise<Wire> {
    if (this.#closed) {
      const message = `Cannot send to "${this.#options.server}": the transport is closed, wanted an open one`;
      return Promise.reject(new SetpointError("ERR_TRANSPORT_CLOSED", message));
    }
    if (this.#wire === undefined) {
      const wire = this.#connect();
      this.#wire = wire;
      // A failed attempt must not be kept: the next request tries again.
      wire.catch(() => {
        if (this.#wire === wire) this.#wire = undefined;
      });
    }
    return this.#wire;
  }

  async #connect(): Promise<Wire> {
    if (this.#options.credential !== undefined) {
      const { cert, key } = this.#credential;
      this.#credential = await this.#options.credential(this.#refreshCredential);
      this.#refreshCredential = false;
      // An agent's connections are made with the certificate that it was made with.
      if (cert !== this.#credential.cert || key !== this.#credential.key) this.#retireAgent();
    }
    if (this.#authority.protocol === "http:") return { kind: "http1" };
    const socket = await this.#handshake();
    if (socket.alpnProtocol !== "h2") {
      socket.destroy();
      this.#agent ??= this.#createAgent();
      return { kind: "http1" };
    }
    return { kind: "http2", session: this.#open(socket) };
  }

  #retireAgent(): void {
    const agent = this.#agent;
    this.#agent = undefined;
    this.#retired = this.#retired.filter(({ sockets }) => Object.keys(sockets).length > 0);
    if (agent === undefined) return;
    // Connections in use are closed when their answer has come, the others now.
    agent.maxFreeSockets = 0;
    for (const sockets of Object.values(agent.freeSockets)) for (const each of sockets ?? []) each.destroy();
    this.#retired = [...this.#retired, agent];
  }

  #createAgent(): Agent {
    const agent = new (lazyModules.https().Agent)({ keepAlive: true, ...tlsOptions(this.#options, this.#credential) });
    if (this.#options.proxy === undefined) return agent;
    // The agent's own connections would not go through the proxy.
    const createConnection = (_: unknown, done: AgentCallback): void => void this.#openForAgent(done);
    return Object.assign(agent, { createConnection });
  }

  async #openForAgent(done: AgentCallback): Promise<void> {
    let socket: TLSSocket;
    try {
      socket = await openTls(this.#options, this.#credential, ["http/1.1"]);
    } catch (cause) {
      return done(this.#connectionFailed(cause));
    }
    done(null, socket);
  }

  async #handshake(): Promise<TLSSocket> {
    try {
      return await openTls(this.#options, this.#credential, ["h2", "http/1.1"]);
    } catch (cause) {
      throw this.#connectionFailed(cause);
    }
  }

  #connectionFailed(cause: unknown): SetpointError {
    const text = messageOf(cause);
    const message = `Cannot connect to "${this.#options.server}": ${text}`;
    return new SetpointError("ERR_CONNECTION_FAILED", message, { cause });
  }

  #open(socket: TLSSocket): ClientHttp2Session {
    socket.setNoDelay(true);
    const session = connectHttp2(this.#authority.origin, {
      createConnection: () => socket,
      maxSessionMemory: sessionMegabytesMax,
      settings: { initialWindowSize: streamWindowBytes, enablePush: false },
    });
    session.setLocalWindowSize(sessionWindowBytes);
    const forget = (): void => {
      if (this.#session === session) this.#forget();
    };
    session.once("close", forget);
    session.once("goaway", forget);
    session.on("error", forget);
    this.#session = session;
    this.#schedulePing(session);
    return session;
  }

  /** Streams under way keep the old connection; new requests get a new one. */
  #forget(): void {
    const session = this.#session;
    this.#session = undefined;
    this.#wire = undefined;
    this.#ping?.cancel();
    if (session !== undefined && !session.destroyed) session.close();
  }

  #schedulePing(session: ClientHttp2Session): void {
    const { clock } = this.#options;
    this.#ping = clock.setTimer(
      () => {
        if (session.destroyed) return;
        const late = clock.setTimer(() => session.destroy(connectionLost()), pingTimeoutMs, { unref: true });
        session.ping(() => {
          late.cancel();
          if (this.#session === session) this.#schedulePing(session);
        });
      },
      pingIntervalMs,
      { unref: true },
    );
  }

  #requestHeaders(request: ApiRequest, body: string | Uint8Array | undefined): Record<string, string | string[]> {
    const headers: Record<string, string | string[]> = { ...this.#headers };
    const token = this.#credential.token ?? this.#token.current();
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    if (this.#options.gzip !== false && request.method === "GET" && request.query?.["watch"] === undefined) {
      headers["accept-encoding"] = "gzip";
    }
    return request.headers === undefined ? headers : Object.assign(headers, request.headers);
  }

  #sendHttp2<R>(
    session: ClientHttp2Session,
    read: AnswerReader<R>,
    request: ApiRequest,
    signal?: AbortSignal,
  ): Promise<R> {
    const body = encodeBody(request.body);
    const headers = this.#requestHeaders(request, body);
    headers[":method"] = request.method;
    headers[":path"] = this.#prefix + target(request);
    return new Promise((resolve, reject) => {
      let stream: ClientHttp2Stream;
      try {
        stream = session.request(headers, { endStream: body === undefined });
      } catch (cause) {
        // The connection went away between our look at it and now.
        this.#forget();
        return reject(connectionLost(cause));
      }
      const fail = (cause?: unknown): void => reject(signal?.aborted ? signal.reason : connectionLost(cause));
      const onAbort = (): void => stream.close(8);
      signal?.addEventListener("abort", onAbort, { once: true });
      stream.on("error", fail);
      // Every stream closes; an error, with its stack, is only made when somebody still waits for it.
      let isAnswered = false;
      stream.once("close", () => {
        signal?.removeEventListener("abort", onAbort);
        if (!isAnswered) fail();
      });
      stream.once("response", (incoming) => {
        isAnswered = true;
        const cut = (): boolean => stream.aborted || stream.rstCode !== 0;
        resolve(read(request, headOf(Number(incoming[":status"]), incoming), stream, cut, signal));
      });
      if (body !== undefined) stream.end(body);
    });
  }

  #sendHttp1<R>(read: AnswerReader<R>, request: ApiRequest, signal?: AbortSignal): Promise<R> {
    const body = encodeBody(request.body);
    const { hostname, port, protocol } = this.#authority;
    const options = {
      method: request.method,
      path: this.#prefix + target(request),
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port),
      headers: this.#requestHeaders(request, body),
      ...(this.#agent === undefined ? {} : { agent: this.#agent }),
      ...(signal === undefined ? {} : { signal }),
    };
    return new Promise((resolve, reject) => {
      const { request: send } = protocol === "http:" ? lazyModules.http() : lazyModules.https();
      const outgoing = send(options);
      outgoing.once("error", (cause) => reject(signal?.aborted ? signal.reason : connectionLost(cause)));
      outgoing.once("response", (incoming) => {
        incoming.on("error", () => undefined);
        const head = headOf(incoming.statusCode ?? 0, incoming.headers);
        resolve(read(request, head, incoming, () => !incoming.complete, signal));
      });
      outgoing.end(body);
    });
  }
}

function encodeBody(body: unknown): string | Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array || typeof body === "string") return body;
  return JSON.stringify(body);
}

/** Path and query of a request. */
export function target({ path, query }: ApiRequest): string {
  if (query === undefined) return path;
  const parts: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values = typeof value === "string" ? [value] : value;
    for (const each of values) parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(each)}`);
  }
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

function headOf(status: number, incoming: IncomingHttpHeaders): AnswerHead {
  const headers: Record<string, string> = {};
  for (const name in incoming) {
    const value = incoming[name];
    if (value === undefined || name.startsWith(":")) continue;
    headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return { status, headers };
}
