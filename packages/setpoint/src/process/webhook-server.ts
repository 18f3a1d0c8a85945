/** Listens for the calls of API servers. */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { decodeJson, encodeJson, ApiError, failure } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import type { KeyPair } from "@setpoint/host/certificates";
import type { WebhookHandler } from "@setpoint/runtime";
import { webhookPort } from "../webhook-manifests.ts";
import { SharedRoom } from "./shared-room.ts";
import { tooLargeMessage, WebhookBody, webhookBodyBytesMax } from "./webhook-body.ts";
import { type WebhookConnection, WebhookConnections } from "./webhook-connections.ts";

export interface WebhookServerOptions {
  readonly handler: WebhookHandler;
  readonly clock: Clock;
  readonly certificate: KeyPair;
  /** Default: all addresses. */
  readonly address?: string;
  /** Default 9443; 0: any free port. */
  readonly port?: number;
  /** Connections that are open at the same time; beyond it those that do nothing make way. Default 500. */
  readonly connectionsMax?: number;
}

export interface WebhookServer extends AsyncDisposable {
  readonly port: number;
  /** Connections from now on get this certificate; open ones stay as they are. */
  serve(certificate: KeyPair): void;
}

/** Of all bodies that are in memory at the same time. */
const bodiesBytesMax = 4 * webhookBodyBytesMax;
const connectionsMaxDefault = 500;
/** A caller has this long to send its request: its head, and all of it. */
const headMsMax = 5_000;
const requestMsMax = 10_000;
/** How often these times are looked at; Node's own 30 s would be longer than they are. */
const checkingMs = 1_000;
/**
 * Longer than API servers keep an idle connection (90 s), so that none is closed under a call that is just
 * being sent.
 */
const idleMsMax = 120_000;
/**
 * How long the end waits for calls under way; a request that is never sent to its end must not hold it up.
 */
const closingMsMax = 5_000;

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { handler, clock, certificate, address, port = webhookPort } = options;
  const limits = {
    ...{ handshakeTimeout: headMsMax, headersTimeout: headMsMax },
    ...{ requestTimeout: requestMsMax, keepAliveTimeout: idleMsMax },
    connectionsCheckingInterval: checkingMs,
  };
  const tls = { cert: certificate.certificate, key: certificate.key, minVersion: "TLSv1.2" as const };
  const connections = new WebhookConnections(options.connectionsMax ?? connectionsMaxDefault);
  const bodies = new SharedRoom<WebhookBody>(bodiesBytesMax);
  const server = createServer({ ...limits, ...tls }, (request, response) => {
    const connection = connections.of(request.socket);
    // Nothing that a caller sends may end the process.
    respond(handler, bodies, connection, request, response).catch(() => refuseBroken(response));
  });
  server.on("connection", (socket: Socket) => connections.admit(socket));
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
        connections.closeAll();
      }, closingMsMax);
      await closed;
      limit.cancel();
    },
  };
}

async function respond(
  handler: WebhookHandler,
  bodies: SharedRoom<WebhookBody>,
  connection: WebhookConnection | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = request.url ?? "/";
  if (!URL.canParse(url, urlBase)) return refuse(response, 400, "Cannot answer the request: its path is none");
  const { pathname: path, searchParams } = new URL(url, urlBase);
  if (request.method !== "POST") return refuse(response, 405, `Cannot answer ${request.method}: only POST is served`);
  if (Number(request.headers["content-length"] ?? 0) > webhookBodyBytesMax) {
    response.setHeader("connection", "close");
    return refuse(response, 413, tooLargeMessage);
  }
  using body = new WebhookBody(request, bodies);
  const timeoutSeconds = parseTimeout(searchParams.get("timeout"));
  const read = async (signal: AbortSignal): Promise<unknown> => {
    const text = await body.read(signal);
    if (connection !== undefined) connection.isBusy = true;
    return parse(text);
  };
  response.once("close", () => {
    if (connection !== undefined) connection.isBusy = false;
  });
  const answer = await handler.handle({ path, timeoutSeconds, read });
  // What is still to come of a body that was given up is not waited for.
  if (body.isBegun && !request.complete) response.setHeader("connection", "close");
  send(response, answer.status, answer.body);
}

/** Only path and query are looked at, so any host will do. */
const urlBase = "https://webhook";

function parse(text: string): unknown {
  try {
    return decodeJson(text);
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
  const text = encodeJson(body);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    .end(text);
}
