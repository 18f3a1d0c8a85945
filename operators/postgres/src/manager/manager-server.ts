/** The manager's own servers: HTTPS for the operator and the peers, and HTTP for the kubelet's probes. */
import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer, type Server as SecureServer } from "node:https";
import type { TLSSocket } from "node:tls";
import { baseBackupPath, clientNames, desiredPath, leasePath, reportPath } from "../instance/manager-paths.ts";
import { managerPort, probePort } from "../kind/names.ts";
import type { BaseBackups } from "./base-backup.ts";
import { keyMaterial } from "./certificate-files.ts";
import { answerInner } from "./inner/inner-requests.ts";
import type { InstanceManager } from "./instance-manager.ts";
import { dropUserPath, loginPath, userPath } from "../instance/user-protocol.ts";
import { parseDesired, parseDroppedUser, parseLeaseRequest, parseLogin, parseWantedUser } from "./parse-request.ts";
import type { Programs } from "./programs.ts";
import { Refusal } from "./refusal.ts";
import type { Sql } from "./sql.ts";
import { dropUser, ensureUser, proveLogin } from "./users.ts";

/** A document has a few kilobytes. */
const bodyBytesMax = 1 << 18;

export interface ManagerServers extends AsyncDisposable {
  /** New connections use the certificates as they are now. */
  readonly renewCertificates: () => void;
}

/** What the server calls on. */
export interface ManagerParts {
  readonly manager: InstanceManager;
  readonly backups: BaseBackups;
  readonly sql: Sql;
  readonly programs: Programs;
}

export async function serveManager(parts: ManagerParts): Promise<ManagerServers> {
  const { manager, backups } = parts;
  const secure = createServer(
    { ...keyMaterial("server"), requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      if (isForBackup(request)) void giveBackup(request, response, backups);
      else void answer(request, response, () => route(parts, request));
    },
  );
  const probes = createPlainServer((request, response) => {
    void answer(request, response, () => probe(manager, request));
  });
  await Promise.all([listen(secure, managerPort), listen(probes, probePort)]);
  return {
    renewCertificates: () => secure.setSecureContext(keyMaterial("server")),
    [Symbol.asyncDispose]: async () => void (await Promise.all([close(secure), close(probes)])),
  };
}

function listen(server: Server | SecureServer, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "0.0.0.0", resolve);
  });
}

function close(server: Server | SecureServer): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

async function answer(request: IncomingMessage, response: ServerResponse, give: () => Promise<unknown>): Promise<void> {
  try {
    reply(response, 200, await give());
  } catch (error) {
    replyError(response, error);
  }
  request.resume();
}

function replyError(response: ServerResponse, error: unknown): void {
  // Of an answer that has begun, the reader must not take a part for the whole.
  if (response.headersSent) return void response.destroy();
  const status = error instanceof Refusal ? error.status : 500;
  reply(response, status, { error: error instanceof Error ? error.message : String(error) });
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function probe(manager: InstanceManager, { url }: IncomingMessage): Promise<unknown> {
  if (url === "/alive") return { alive: true };
  if (url !== "/ready") throw new Refusal(404, `There is nothing at ${url}`);
  if (!(await manager.isReady())) throw new Refusal(503, manager.message ?? "the server is not ready");
  return { ready: true };
}

function isForBackup({ method, url }: IncomingMessage): boolean {
  return method === "GET" && url === baseBackupPath;
}

async function giveBackup(request: IncomingMessage, response: ServerResponse, backups: BaseBackups): Promise<void> {
  try {
    const client = clientOf(request);
    if (client !== clientNames.backup)
      throw new Refusal(403, `The certificate of "${client}" may not ask for a base backup`);
    if (backups.isRunning) throw new Refusal(409, "Another base backup of this instance is being taken");
    await backups.send(response);
  } catch (error) {
    replyError(response, error);
  }
}

async function route(parts: ManagerParts, request: IncomingMessage): Promise<unknown> {
  const { manager } = parts;
  const url = new URL(request.url ?? "/", "https://manager");
  const client = clientOf(request);
  const call = `${request.method} ${url.pathname}`;
  if (call === `POST ${leasePath}`) return manager.answerLease(parseLeaseRequest(await bodyOf(request)));
  if (client !== clientNames.operator) throw new Refusal(403, `The certificate of "${client}" may not ask for ${call}`);
  if (call === `GET ${reportPath}`) {
    const holder = url.searchParams.get("holder");
    const lease = holder === null ? undefined : { holder, term: Number(url.searchParams.get("term")) };
    return manager.report(lease);
  }
  if (call === `PUT ${desiredPath}`) return manager.follow(parseDesired(await bodyOf(request)));
  return routeUsers(call, parts, request);
}

/** Only the primary can change users. */
async function routeUsers(call: string, parts: ManagerParts, request: IncomingMessage): Promise<unknown> {
  const { manager, sql, programs } = parts;
  const inner = await answerInner(call, () => bodyOf(request), parts);
  if (inner !== undefined) return inner;
  const known = [`PUT ${userPath}`, `POST ${loginPath}`, `POST ${dropUserPath}`];
  if (!known.includes(call)) throw new Refusal(404, `There is nothing at ${call}`);
  if (!(await manager.isPrimary())) throw new Refusal(409, "This instance is not the primary");
  const body = await bodyOf(request);
  if (call === known[0]) await ensureUser(sql, parseWantedUser(body));
  else if (call === known[1]) await proveLogin(programs, parseLogin(body));
  else await dropUser(sql, parseDroppedUser(body));
  return {};
}

/** The name in the certificate, which an authority of the cluster signed. */
function clientOf({ socket }: IncomingMessage): string {
  const { subject } = (socket as TLSSocket).getPeerCertificate();
  const name = subject?.CN;
  return typeof name === "string" ? name : "";
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
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
