/** Answers requests with JSON, over HTTPS with certificates on both sides or over HTTP for probes. */
import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer, type Server as SecureServer } from "node:https";
import type { TLSSocket } from "node:tls";
import type { KeyMaterial } from "./certificate-files.ts";
import { Refusal } from "./refusal.ts";

/** A document has a few kilobytes. */
const bodyBytesMax = 1 << 18;

export interface JsonServers extends AsyncDisposable {
  /** New connections use the certificates as they are now. */
  readonly renewCertificates: () => void;
}

/** What the servers answer; `probe` gives nothing secret. */
export interface Answers {
  readonly ports: { readonly secure: number; readonly probes: number };
  readonly keys: () => KeyMaterial;
  readonly secure: (request: IncomingMessage) => Promise<unknown>;
  readonly probe: (request: IncomingMessage) => Promise<unknown>;
}

export async function serveJson({ ports, keys, secure, probe }: Answers): Promise<JsonServers> {
  const options = { ...keys(), requestCert: true, rejectUnauthorized: true };
  const secured = createServer(options, (request, response) => void answer(request, response, () => secure(request)));
  const probes = createPlainServer((request, response) => void answer(request, response, () => probe(request)));
  await Promise.all([listen(secured, ports.secure), listen(probes, ports.probes)]);
  return {
    renewCertificates: () => secured.setSecureContext(keys()),
    [Symbol.asyncDispose]: async () => void (await Promise.all([close(secured), close(probes)])),
  };
}

export function listen(server: Server | SecureServer, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "0.0.0.0", resolve);
  });
}

export function close(server: Server | SecureServer): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  give: () => Promise<unknown>,
): Promise<void> {
  try {
    reply(response, 200, await give());
  } catch (error) {
    replyError(response, error);
  }
  request.resume();
}

export function replyError(response: ServerResponse, error: unknown): void {
  // Of an answer that has begun, the reader must not take a part for the whole.
  if (response.headersSent) return void response.destroy();
  const status = error instanceof Refusal ? error.status : 500;
  reply(response, status, { error: error instanceof Error ? error.message : String(error) });
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** The name in the certificate, which an authority of the cluster signed. */
export function clientOf({ socket }: IncomingMessage): string {
  const { subject } = (socket as TLSSocket).getPeerCertificate();
  const name = subject?.CN;
  return typeof name === "string" ? name : "";
}

export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request as AsyncIterable<string>) {
    text += chunk;
    if (text.length > bodyBytesMax) throw new Refusal(413, `The body is larger than ${bodyBytesMax} bytes`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "The body is no JSON");
  }
}
