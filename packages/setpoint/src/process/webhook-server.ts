/** Listens for the calls of API servers. */
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { ApiError, failure, isApiError } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import type { KeyPair } from "@setpoint/host/certificates";
import type { WebhookHandler } from "@setpoint/runtime";
import { webhookPort } from "../webhook-manifests.ts";

export interface WebhookServerOptions {
  readonly handler: WebhookHandler;
  readonly clock: Clock;
  readonly certificate: KeyPair;
  /** Default: all addresses. */
  readonly address?: string;
  /** Default 9443; 0: any free port. */
  readonly port?: number;
}

export interface WebhookServer extends AsyncDisposable {
  readonly port: number;
  /** Connections from now on get this certificate; open ones stay as they are. */
  serve(certificate: KeyPair): void;
}

/** A review has two objects of at most 1.5 MB; a conversion up to 500 objects. */
export const webhookBodyBytesMax: number = 64 * 1024 * 1024;
/** Of all bodies that are in memory at the same time; whoever comes then is told to come back. */
const bodiesBytesMax = 4 * webhookBodyBytesMax;
const connectionsMax = 500;
/** A caller has this long to send its request, head and all. */
const headMsMax = 10_000;
const requestMsMax = 30_000;
/** Longer than API servers keep an idle connection (90 s), so that none is closed under a call that is just being sent. */
const idleMsMax = 120_000;
/** How long the end waits for calls under way; a request that is never sent to its end must not hold it up. */
const closingMsMax = 5_000;

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { handler, clock, certificate, address, port = webhookPort } = options;
  const limits = {
    ...{ handshakeTimeout: headMsMax, headersTimeout: headMsMax },
    ...{ requestTimeout: requestMsMax, keepAliveTimeout: idleMsMax },
  };
  const tls = { cert: certificate.certificate, key: certificate.key, minVersion: "TLSv1.2" as const };
  const bodies = new BodyReader();
  const server = createServer({ ...limits, ...tls }, (request, response) => {
    // Nothing that a caller sends may end the process.
    respond(handler, bodies, request, response).catch(() => refuseBroken(response));
  });
  server.maxConnections = connectionsMax;
  const sockets = openSockets(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return {
    // Listening on TCP, so the address is not a path.
    port: (server.address() as AddressInfo).port,
    serve: ({ certificate: cert, key }) => server.setSecureContext({ ...tls, cert, key }),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const limit = clock.setTimer(() => {
        server.closeAllConnections();
        // Those that have not even begun to speak TLS are none of HTTP's.
        for (const socket of sockets) socket.destroy();
      }, closingMsMax);
      await closed;
      limit.cancel();
    },
  };
}

function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function respond(
  handler: WebhookHandler,
  bodies: BodyReader,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = request.url ?? "/";
  if (!URL.canParse(url, urlBase)) return refuse(response, 400, "Cannot answer the request: its path is none");
  const { pathname: path, searchParams } = new URL(url, urlBase);
  if (request.method !== "POST") return refuse(response, 405, `Cannot answer ${request.method}: only POST is served`);
  if (Number(request.headers["content-length"] ?? 0) > webhookBodyBytesMax) {
    response.setHeader("connection", "close");
    return refuse(response, 413, tooLarge);
  }
  using body = bodies.open(request);
  const timeoutSeconds = parseTimeout(searchParams.get("timeout"));
  const read = async (): Promise<unknown> => parse(await body.read());
  const answer = await handler.handle({ path, timeoutSeconds, read });
  // What is still to come of a body that was given up is not waited for.
  if (body.isBegun && !request.complete) response.setHeader("connection", "close");
  send(response, answer.status, answer.body);
}

/** Only path and query are looked at, so any host will do. */
const urlBase = "https://webhook";

/** Reads bodies, each of them and all together within limits. */
class BodyReader {
  #bytesOfAll = 0;

  /** To be disposed of when the call is over, and its body no longer in memory. */
  open(request: IncomingMessage): RequestBody {
    return new RequestBody(request, (bytes) => {
      if (bytes > 0 && this.#bytesOfAll + bytes > bodiesBytesMax) {
        const message = `Cannot answer the request: ${bodiesBytesMax} bytes of requests are being read already`;
        throw new ApiError(failure(429, "TooManyRequests", message));
      }
      this.#bytesOfAll += bytes;
    });
  }
}

class RequestBody implements Disposable {
  readonly #request: IncomingMessage;
  /** Takes bytes from what there is for all bodies together, or gives them back. */
  readonly #take: (bytes: number) => void;
  #bytes = 0;
  #isClosed = false;
  isBegun = false;

  constructor(request: IncomingMessage, take: (bytes: number) => void) {
    this.#request = request;
    this.#take = take;
  }

  /** Throws an ApiError that says why there is no body. */
  async read(): Promise<string> {
    this.isBegun = true;
    const parts: Buffer[] = [];
    try {
      // The connection must live on, to be told why its body was not read to the end.
      for await (const part of this.#request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.#add(part.length);
        parts.push(part);
      }
    } catch (error) {
      if (isApiError(error)) throw error;
      throw new ApiError(failure(400, "BadRequest", "Cannot answer the request: its body was not sent to its end"));
    }
    return Buffer.concat(parts).toString("utf8");
  }

  #add(bytes: number): void {
    if (this.#isClosed) throw new ApiError(failure(504, "Timeout", "Cannot answer the request: it came too late"));
    if (this.#bytes + bytes > webhookBodyBytesMax) throw new ApiError(failure(413, "RequestEntityTooLarge", tooLarge));
    this.#take(bytes);
    this.#bytes += bytes;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#take(-this.#bytes);
    this.#bytes = 0;
  }
}

const tooLarge = `Cannot answer the request: its body is larger than ${webhookBodyBytesMax} bytes`;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(failure(400, "BadRequest", "Cannot answer the request: its body is not JSON"));
  }
}

/** `10s`, as API servers write it. */
function parseTimeout(text: string | null): number | undefined {
  const seconds = Number(/^(\d+)s$/.exec(text ?? "")?.[1]);
  return Number.isInteger(seconds) && seconds > 0 ? seconds : undefined;
}

/** An answer that cannot be sent. */
function refuseBroken(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else refuse(response, 500, "Cannot answer the request: its answer cannot be sent");
}

function refuse(response: ServerResponse, code: number, message: string): void {
  send(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", message, code });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
}
