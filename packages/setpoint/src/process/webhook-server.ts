/** Listens for the calls of API servers. */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { KeyPair } from "@setpoint/host/certificates";
import type { WebhookHandler } from "@setpoint/runtime";
import { webhookPort } from "../webhook-manifests.ts";

export interface WebhookServerOptions {
  readonly handler: WebhookHandler;
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
const connectionsMax = 500;
/** A caller has this long to send its request, head and all. */
const headMsMax = 10_000;
const requestMsMax = 30_000;
/** Longer than API servers keep an idle connection (90 s), so that none is closed under a call that is just being sent. */
const idleMsMax = 120_000;

export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { handler, certificate, address, port = webhookPort } = options;
  const limits = { headersTimeout: headMsMax, requestTimeout: requestMsMax, keepAliveTimeout: idleMsMax };
  const tls = { cert: certificate.certificate, key: certificate.key, minVersion: "TLSv1.2" as const };
  const server = createServer({ ...limits, ...tls }, (request, response) => {
    void respond(handler, request, response);
  });
  server.maxConnections = connectionsMax;
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
      await closed;
    },
  };
}

async function respond(handler: WebhookHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "https://webhook");
  if (request.method !== "POST") return refuse(response, 405, `Cannot answer ${request.method}: only POST is served`);
  if (Number(request.headers["content-length"] ?? 0) > webhookBodyBytesMax) return refuseLarge(response);
  const text = await readText(request).catch(() => undefined);
  if (text === undefined) return request.destroyed ? undefined : refuseLarge(response);
  const body = parse(text);
  if (body === undefined) return refuse(response, 400, "Cannot answer the request: its body is not JSON");
  const timeoutSeconds = parseTimeout(searchParams.get("timeout"));
  const answer = await handler.handle({ path: pathname, timeoutSeconds, body });
  send(response, answer.status, answer.body);
}

/** Undefined: longer than the limit. Rejects when the caller goes away. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > webhookBodyBytesMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `10s`, as API servers write it. */
function parseTimeout(text: string | null): number | undefined {
  const seconds = Number(/^(\d+)s$/.exec(text ?? "")?.[1]);
  return Number.isInteger(seconds) && seconds > 0 ? seconds : undefined;
}

function refuseLarge(response: ServerResponse): void {
  response.setHeader("connection", "close");
  refuse(response, 413, `Cannot answer the request: its body is larger than ${webhookBodyBytesMax} bytes`);
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
