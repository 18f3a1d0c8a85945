/** The manager's own servers: HTTPS for the operator and the peers, and HTTP for the kubelet's probes. */
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import {
  baseBackupPath,
  clientNames,
  desiredPath,
  leasePath,
  reportPath,
  restartPath,
} from "../instance/manager-paths.ts";
import { managerPort, probePort } from "../kind/names.ts";
import type { BaseBackups } from "./base-backup.ts";
import { keyMaterial } from "./certificate-files.ts";
import { answerInner } from "./inner/inner-requests.ts";
import { answer, bodyOf, clientOf, close, type JsonServers, listen, replyError } from "./json-server.ts";
import type { InstanceManager } from "./instance-manager.ts";
import { dropUserPath, loginPath, userPath } from "../instance/user-protocol.ts";
import {
  parseDesired,
  parseDroppedUser,
  parseLeaseRequest,
  parseLogin,
  parseRestart,
  parseWantedUser,
} from "./parse-request.ts";
import type { Programs } from "./programs.ts";
import { Refusal } from "./refusal.ts";
import type { Sql } from "./sql.ts";
import { dropUser, ensureUser, proveLogin } from "./users.ts";

export type ManagerServers = JsonServers;

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
  if (call === `POST ${restartPath}`) {
    await manager.restart(parseRestart(await bodyOf(request)));
    return {};
  }
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
