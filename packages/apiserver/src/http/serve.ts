/**
 * Serves HTTPS (HTTP/2, and HTTP/1.1 for clients that ask for it): translates HTTP to API requests and back.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2Session,
  type SecureServerOptions,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { assert } from "@setpoint/apimachinery";
import type { Clock, Host, Timer } from "@setpoint/host";
import type { Authenticate, CertificateSubject } from "../auth/credentials.ts";
import { type CertifiedSocket, clientCertificate } from "./client-certificate.ts";
import { type Connection, Connections, connectionsMax, idleMsMax } from "./connections.ts";
import { Exchange, type ExchangeInput, type ExchangeServices, type RequestHeaders } from "./exchange.ts";
import { FairQueue } from "./fair-queue.ts";
import { HandshakeGate, handshakeMsMax, handshakesMax } from "./handshake-gate.ts";
import type { RequestHandler } from "./request-handler.ts";
import { UserLimits } from "./user-limits.ts";
import { Http1Reply, Http2Reply, type Reply } from "./reply.ts";
import { Visitors } from "./visitors.ts";

/** Takes over a connection that asked for an upgrade (exec, attach, port-forward). */
export type UpgradeHandler = (upgrade: UpgradeRequest) => void | Promise<void>;

/**
 * A request that asks for an upgrade of its connection (exec, attach, port-forward), before authentication.
 */
export interface UpgradeRequest {
  readonly message: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that came after the request's head. */
  readonly head: Buffer;
  readonly certificate: CertificateSubject | "unknown" | undefined;
}

/** Where and with which certificates the server listens, and who authenticates its clients. */
export interface ServeOptions {
  readonly host: Host;
  /** Default 127.0.0.1. */
  readonly address?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  readonly tls: {
    /** PEM of the certificate and its chain. */
    readonly certificate: string;
    readonly key: string;
    /** PEM of the authority whose client certificates count. */
    readonly clientCa?: string;
  };
  readonly authenticate: Authenticate;
  readonly upgrade?: UpgradeHandler;
  /** How long `close` waits for requests in flight, in milliseconds. */
  readonly closeMsMax?: number;
}

/** A server that listens. Disposing it closes it. */
export interface ListeningServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Serves a connection that another listener accepted, such as one in another network namespace. */
  accept(socket: Socket): void;
  /** Ends watches, waits for other requests up to the limit, then cuts what is left. */
  close(): Promise<void>;
}

const closeMsDefault = 5_000;
/**
 * Streams of one connection, watches included: Go's default. Clients open another connection when they need
 * more.
 */
const streamsMax = 250;
/**
 * Node refuses new streams beyond this much buffered data of one connection; the default of 10 is less than
 * one list.
 */
const sessionMegabytesMax = 1_000;
/** What a stream may send before it is read: each may hold so much of the server's memory. */
const streamWindowBytes = 256 * 1024;
/** How long a client may take for the head of a request. */
const headMsMax = 10_000;
/** How long it may take for a whole request; `bodyMsMax` is the better answer, this the last resort. */
const requestMsMax = 60_000;
const sweepMs = 5_000;
/** When the operating system asks whether a silent client is still there. */
const keepAliveProbeMs = 30_000;

/** The other end of a connection. */
interface Peer {
  readonly certificate: CertificateSubject | "unknown" | undefined;
  readonly connection: Connection;
}

/** Starts to listen; resolves when the port is open. */
export async function serve(handler: RequestHandler, options: ServeOptions): Promise<ListeningServer> {
  const listener = new Listener(handler, options);
  await listener.listen();
  return listener;
}

class Listener implements ListeningServer {
  readonly #options: ServeOptions;
  readonly #server: Http2SecureServer;
  readonly #sessions = new Map<Http2Session, Peer>();
  /** Those of HTTP/2 have no peer: it is their session's. */
  readonly #sockets = new Map<TLSSocket, Peer | undefined>();
  readonly #exchanges = new Set<Exchange>();
  readonly #connections: Connections;
  readonly #visitors = new Visitors();
  readonly #gate: HandshakeGate;
  readonly #services: ExchangeServices;
  #sweep: Timer | undefined;
  #port = 0;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(handler: RequestHandler, options: ServeOptions) {
    this.#options = options;
    const { host, authenticate } = options;
    this.#connections = new Connections(host.clock);
    const queue = new FairQueue(host.clock);
    this.#services = { handler, authenticate, host, queue, limits: new UserLimits() };
    this.#server = createServer(options);
    this.#server.on("request", (request, response) => this.#onHttp1(request as unknown as IncomingMessage, response));
    // With a "request" listener Node adds a slow compatibility layer to every HTTP/2 stream; that one is
    // taken off again, so that "request" is HTTP/1.1 and "stream" is HTTP/2.
    this.#server.removeAllListeners("stream");
    this.#server.on("stream", (stream: ServerHttp2Stream, headers, flags) => this.#onHttp2(stream, headers, flags));
    this.#server.on("session", (session) => this.#onSession(session));
    this.#gate = gateBefore(this.#server, host.clock);
    this.#server.on("secureConnection", (socket) => this.#onSocket(socket));
    this.#server.on("upgrade", (message: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#onUpgrade(message, socket, head),
    );
    this.#server.on("sessionError", (error) => options.host.log.debug("HTTP/2 session failed", { error }));
    this.#server.on("tlsClientError", (error) => options.host.log.debug("TLS handshake failed", { error }));
  }

  listen(): Promise<void> {
    const { address = "127.0.0.1", port = 0 } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, address, () => {
        this.#server.off("error", reject);
        this.#port = portOf(this.#server);
        this.#sweep = this.#nextSweep();
        resolve();
      });
    });
  }

  /** Also available after closing, so that a restarted server can listen on the same port. */
  get port(): number {
    return this.#port;
  }

  get url(): string {
    const { address = "127.0.0.1" } = this.#options;
    return `https://${address.includes(":") ? `[${address}]` : address}:${this.port}`;
  }

  accept(socket: Socket): void {
    // Node counts only what it accepted itself.
    if (this.#closed !== undefined || !this.#visitors.admit(socket)) return void socket.destroy();
    this.#server.emit("connection", socket);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #nextSweep(): Timer {
    return this.#options.host.clock.setTimer(() => this.#sweepAll(), sweepMs, { unref: true });
  }

  /** Ends what clients leave lying: connections without requests, and answers that are not read. */
  #sweepAll(): void {
    this.#gate.closeLate();
    this.#connections.closeIdle();
    for (const exchange of this.#exchanges) exchange.cutIfStuck();
    this.#sweep = this.#nextSweep();
  }

  async #close(): Promise<void> {
    this.#sweep?.cancel();
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const late = Promise.withResolvers<void>();
    const { clock } = this.#options.host;
    const timer = clock.setTimer(() => late.resolve(), this.#options.closeMsMax ?? closeMsDefault);
    this.#gate.close();
    for (const exchange of this.#exchanges) exchange.endStream();
    await Promise.race([this.#idle(), late.promise]);
    // Written data is still sent; idle connections end at once.
    for (const session of this.#sessions.keys()) session.close();
    for (const socket of this.#sockets.keys()) if (socket.alpnProtocol !== "h2") socket.destroySoon();
    await Promise.race([stopped, late.promise]);
    timer.cancel();
    for (const session of this.#sessions.keys()) session.destroy();
    for (const socket of this.#sockets.keys()) socket.destroy();
    await stopped;
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#exchanges.size === 0) resolve();
      else this.#onIdle = resolve;
    });
  }

  #onSocket(socket: TLSSocket): void {
    this.#gate.passed(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveProbeMs);
    if (socket.alpnProtocol !== "h2") readThroughStream(socket);
    const peer = socket.alpnProtocol === "h2" ? undefined : this.#peer(socket, () => socket.destroy());
    this.#sockets.set(socket, peer);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (peer !== undefined) this.#connections.remove(peer.connection);
    });
    socket.on("error", (error) => this.#options.host.log.debug("Connection failed", { error }));
  }

  #onSession(session: Http2Session): void {
    const peer = this.#peer(session.socket as CertifiedSocket, () => session.destroy());
    this.#sessions.set(session, peer);
    session.once("close", () => {
      this.#sessions.delete(session);
      this.#connections.remove(peer.connection);
    });
  }

  #peer(socket: CertifiedSocket, destroy: () => void): Peer {
    const certificate = clientCertificate(socket);
    const owner = typeof certificate === "object" ? certificate.commonName : "";
    return { certificate, connection: this.#connections.add({ owner, destroy }) };
  }

  #onHttp2(stream: ServerHttp2Stream, headers: RequestHeaders, flags: number): void {
    const peer = stream.session === undefined ? undefined : this.#sessions.get(stream.session);
    // Flag 1 is END_STREAM: nothing follows the headers.
    const input = (flags & 1) === 1 ? undefined : stream;
    const line = { method: String(headers[":method"]), target: String(headers[":path"] ?? "") };
    this.#run(new Http2Reply(stream), { ...line, headers, input }, peer);
  }

  #onHttp1(request: IncomingMessage, response: unknown): void {
    const peer = this.#sockets.get(request.socket as TLSSocket);
    // "request" is only emitted for HTTP/1.1 here (see the constructor), so this is its response.
    const reply = new Http1Reply(response as ServerResponse);
    const line = { method: request.method ?? "GET", target: request.url ?? "/" };
    this.#run(reply, { ...line, headers: request.headers, input: request }, peer);
  }

  #run(reply: Reply, input: Omit<ExchangeInput, "certificate" | "identified">, peer: Peer | undefined): void {
    const connections = this.#connections;
    const begin = (username: string): void => {
      if (peer !== undefined) connections.own(peer.connection, username);
    };
    const exchange = new Exchange(reply, { ...input, certificate: peer?.certificate, identified: begin });
    if (peer !== undefined) connections.begin(peer.connection);
    this.#exchanges.add(exchange);
    // It is over when it is handled and its answer is out, or the client has gone.
    let parts = 2;
    const end = (): void => {
      if (--parts > 0) return;
      this.#exchanges.delete(exchange);
      if (peer !== undefined) connections.end(peer.connection);
      if (this.#exchanges.size === 0) this.#onIdle?.();
    };
    reply.out.once("close", end);
    void exchange.run(this.#services).finally(end);
  }

  #onUpgrade(message: IncomingMessage, socket: Socket, head: Buffer): void {
    const { upgrade } = this.#options;
    if (upgrade === undefined) {
      socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    const peer = this.#sockets.get(socket as TLSSocket);
    // A stream is in flight until its connection ends.
    if (peer !== undefined) this.#connections.begin(peer.connection);
    void upgrade({ message, socket, head, certificate: peer?.certificate });
  }
}

/** Each connection comes to the gate first, and the gate hands it to Node's own listener. */
function gateBefore(server: Http2SecureServer, clock: Clock): HandshakeGate {
  const listeners = server.listeners("connection");
  server.removeAllListeners("connection");
  const begin = (socket: Socket): void => {
    for (const listener of listeners) listener.call(server, socket);
  };
  const gate = new HandshakeGate({ clock, begin });
  server.on("connection", (socket: Socket) => gate.take(socket));
  return gate;
}

/**
 * Takes what comes from the socket's stream. By default Node lets the parser read the TLS handle below it:
 * that parser is paused while an answer waits to be written, gets the decrypted records that were under way
 * all the same, and ends the connection with HPE_PAUSED. A listener for data undoes that for good, also when
 * it is removed.
 */
function readThroughStream(socket: TLSSocket): void {
  socket.on("data", ignoreData);
  socket.off("data", ignoreData);
}

function ignoreData(): void {
  // Its presence is the point.
}

function portOf(server: Http2SecureServer): number {
  const address = server.address();
  assert(typeof address === "object" && address !== null, "a listening server has a port");
  return address.port;
}

function createServer({ tls }: ServeOptions): Http2SecureServer {
  // Typed for HTTP/2 alone; with `allowHTTP1` Node reads those of HTTP/1.1 from `http1Options`.
  const http1Options = {
    headersTimeout: headMsMax,
    requestTimeout: requestMsMax,
    keepAliveTimeout: idleMsMax,
    connectionsCheckingInterval: sweepMs,
  };
  const options: SecureServerOptions & { readonly http1Options: typeof http1Options } = {
    allowHTTP1: true,
    http1Options,
    cert: tls.certificate,
    key: tls.key,
    ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: false }),
    handshakeTimeout: handshakeMsMax,
    maxSessionMemory: sessionMegabytesMax,
    settings: { maxConcurrentStreams: streamsMax, initialWindowSize: streamWindowBytes },
  };
  const server = createSecureServer(options);
  server.maxConnections = connectionsMax + handshakesMax;
  return server;
}
