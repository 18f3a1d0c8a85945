/**
 * Health, metrics and answers of a manager over HTTP: for the kubelet's probes, Prometheus and
 * `setpoint why`.
 */
import { encodeJson, messageOf } from "@setpoint/apimachinery";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { KeyPair } from "@setpoint/host/certificates";
import type { HealthReport, Manager } from "@setpoint/runtime";
import { metricsPort } from "../status-ports.ts";
import type { LogLevelControl } from "./log-level.ts";
import type { Profiler, ProfileKind } from "./profiles.ts";
import type { AccessDecision, StatusAccess } from "./status-access.ts";

/** What may be changed and looked into while the process runs. */
export interface StatusDebug {
  readonly logLevel: LogLevelControl;
  readonly profiler: Profiler;
}

/** The manager whose status is served, the address, and who may read it. */
export interface StatusServerOptions {
  readonly manager: Pick<Manager, "healthz" | "readyz" | "metrics" | "why">;
  readonly address: string;
  /** 0: any that is free. */
  readonly port: number;
  /**
   * Asked for each request; a probe is always answered, but without details if the client may not read its
   * path.
   */
  readonly access: StatusAccess;
  /**
   * Answers only requests that name a loopback address, so that no page in a browser can ask by a name of its
   * own.
   */
  readonly isLoopback?: boolean;
  /** Absent: there is no log level to set and no profile to take. */
  readonly debug?: StatusDebug;
  /** Absent: without TLS. */
  readonly tls?: KeyPair;
}

/** A running status server. Disposing of it closes its connections. */
export interface StatusServer extends AsyncDisposable {
  readonly port: number;
  /**
   * With TLS: connections from now on get this certificate. Throws when the two do not belong together, and
   * keeps the one before.
   */
  serve(certificate: KeyPair): void;
}

/** A log level is one word. */
const bodyLengthMax = 64;
/** A handshake, and a request, that is not complete by then is dropped. */
const requestMsMax = 10_000;

const texts: Readonly<Record<Exclude<AccessDecision, "allowed">, readonly [number, string]>> = {
  unauthenticated: [401, "Unauthorized: send the bearer token of an account that may get this path\n"],
  forbidden: [403, "Forbidden: the account may not get this path; it needs it in nonResourceURLs of a ClusterRole\n"],
  busy: [503, "The API server could not say who you are; try again\n"],
  "needs TLS": [
    403,
    `Forbidden: other programs on the network could read a token sent to this address; ask through a forwarded port (setpoint why --pod NAMESPACE/NAME, or kubectl port-forward), or with TLS at port ${metricsPort}\n`,
  ],
};

/**
 * Answers `/healthz` and `/readyz` to everybody, and which check is ill; what it says, `/metrics`,
 * `/debug/why`, `/debug/log-level` and `/debug/profile/…` to those whom `access` lets. Resolves when it
 * listens.
 */
export async function serveStatus(options: StatusServerOptions): Promise<StatusServer> {
  const { address, port, tls } = options;
  const listener: RequestListener = (request, response) => {
    route(request, response, options).catch((error: unknown) => answer(response, 500, `${messageOf(error)}\n`));
  };
  const tlsServer =
    tls === undefined ? undefined : createTlsServer({ ...tlsOptions(tls), handshakeTimeout: requestMsMax }, listener);
  const server: Server =
    // Not imported: to read what node:http exports is to load Node's fetch, 4.5 MB and 20 ms of every
    // operator's start.
    tlsServer ?? process.getBuiltinModule("node:http").createServer(listener);
  server.requestTimeout = requestMsMax;
  server.headersTimeout = requestMsMax;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    serve: (certificate) => tlsServer?.setSecureContext(tlsOptions(certificate)),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function tlsOptions({ certificate, key }: KeyPair): { cert: string; key: string; minVersion: "TLSv1.2" } {
  return { cert: certificate, key, minVersion: "TLSv1.2" };
}

async function route(request: IncomingMessage, response: ServerResponse, options: StatusServerOptions): Promise<void> {
  const { manager, debug, access } = options;
  // Only path and query are looked at, so any host will do.
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://status");
  const verb = request.method === "PUT" ? "put" : "get";
  const isForeign = options.isLoopback === true && !isLoopbackHost(request.headers.host);
  const decide = (): Promise<AccessDecision> => access({ token: bearerOf(request), verb, path: pathname });
  const health = healthAt(pathname, manager);
  if (health !== undefined) return answerHealth(response, health, !isForeign && (await decide()) === "allowed");
  if (isForeign) return answer(response, 403, "Forbidden: this address answers only by its number or as localhost\n");
  const decision = await decide();
  if (decision !== "allowed") return answer(response, ...texts[decision]);
  if (pathname === "/metrics") return answer(response, 200, manager.metrics(), "text/plain; version=0.0.4");
  if (pathname === "/debug/why") return answerWhy(response, manager, searchParams);
  if (debug !== undefined && pathname === "/debug/log-level") return logLevel(request, response, debug.logLevel);
  const profile = /^\/debug\/profile\/(cpu|heap)$/.exec(pathname)?.[1];
  if (debug !== undefined && profile !== undefined)
    return answerProfile(response, debug.profiler, profile as ProfileKind, searchParams);
  answer(response, 404, "404 page not found\n");
}

function healthAt(path: string, manager: StatusServerOptions["manager"]): HealthReport | undefined {
  if (path === "/healthz" || path === "/livez") return manager.healthz();
  return path === "/readyz" ? manager.readyz() : undefined;
}

async function answerWhy(
  response: ServerResponse,
  manager: StatusServerOptions["manager"],
  query: URLSearchParams,
): Promise<void> {
  const [kind, name] = [query.get("kind"), query.get("name")];
  if (kind === null || name === null)
    return answer(
      response,
      400,
      "Cannot explain an object: expected kind and name, as in /debug/why?kind=Candy&name=lolly\n",
    );
  const where: { namespace?: string; cluster?: string; controller?: string } = {};
  for (const each of ["namespace", "cluster", "controller"] as const) {
    const value = query.get(each);
    if (value !== null) where[each] = value;
  }
  const report = await manager.why({ kind, name, ...where });
  const who = where.controller === undefined ? "no controller" : `no controller "${where.controller}"`;
  if (report === undefined) return answer(response, 404, `Cannot explain an object: ${who} here reconciles ${kind}\n`);
  answer(response, 200, `${encodeJson(report)}\n`, "application/json");
}

async function logLevel(request: IncomingMessage, response: ServerResponse, control: LogLevelControl): Promise<void> {
  if (request.method === "PUT") {
    const text = await bodyOf(request);
    if (text === undefined || !control.set(text))
      return answer(response, 400, "Cannot set the log level: expected debug, info, warn or error\n");
  }
  answer(response, 200, `${control.level}\n`);
}

async function answerProfile(
  response: ServerResponse,
  profiler: Profiler,
  kind: ProfileKind,
  query: URLSearchParams,
): Promise<void> {
  if (profiler.isRunning) return answer(response, 429, "Cannot take a profile: another one is being taken\n");
  const seconds = Number(query.get("seconds") ?? 5);
  if (!(seconds > 0)) return answer(response, 400, "Cannot take a profile: seconds must be a number above 0\n");
  answer(response, 200, await profiler.take(kind, seconds), "application/json");
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > bodyLengthMax) return undefined;
  }
  return text;
}

function isLoopbackHost(host: string | undefined): boolean {
  return /^(127(\.\d+){3}|localhost|\[::1\])(:\d+)?$/.test(host ?? "");
}

function bearerOf({ headers: { authorization } }: IncomingMessage): string | undefined {
  return /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
}

/**
 * What a check says may have names of objects in it, and words of errors: `hasDetails` is for whom the path
 * is allowed.
 */
function answerHealth(response: ServerResponse, { ok, checks }: HealthReport, hasDetails: boolean): void {
  const mark = (check: HealthReport["checks"][number]): string =>
    check.ok ? "+" : check.isWarning === true ? "!" : "-";
  const say = (check: HealthReport["checks"][number]): string =>
    hasDetails ? check.message : check.ok ? "ok" : "not ok";
  const lines = checks.map((check) => `[${mark(check)}]${check.name} ${say(check)}`);
  answer(response, ok ? 200 : 500, `${lines.join("\n")}\n`);
}

function answer(response: ServerResponse, status: number, text: string, type = "text/plain"): void {
  response
    .writeHead(status, {
      "content-type": `${type}; charset=utf-8`,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    })
    .end(text);
}
