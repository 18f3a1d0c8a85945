/** The process of one pooler: PgBouncer's parent, which the kubelet starts and stops. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { clientNames } from "../../instance/manager-paths.ts";
import { type DesiredPooler, poolerPath } from "../../instance/pooler-protocol.ts";
import { managerPort, probePort } from "../../kind/names.ts";
import type { KeyMaterial } from "../certificate-files.ts";
import { replaceFile } from "../data-directory.ts";
import { bodyOf, clientOf, type JsonServers, serveJson } from "../json-server.ts";
import { managerClock } from "../manager-clock.ts";
import { Refusal } from "../refusal.ts";
import { Wakeup } from "../wakeup.ts";
import { runCommand } from "./admin-console.ts";
import { parseDesiredPooler } from "./parse-pooler.ts";
import { findPgbouncer, Pgbouncer } from "./pgbouncer.ts";
import { poolerPaths } from "./pooler-files.ts";
import { PoolerManager } from "./pooler-manager.ts";

const stepEveryMs = 250;
const certificatesEveryMs = 5_000;
const ownerOnly = 0o700;

/** Runs until the process is asked to end; resolves with its exit code. */
export async function runPoolerManager(): Promise<number> {
  mkdirSync(poolerPaths.run, { recursive: true, mode: ownerOnly });
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => stopping.abort());
  const bouncer = new Pgbouncer(findPgbouncer(), () => manager.ended());
  const wakeup = new Wakeup(managerClock);
  const manager = new PoolerManager({ clock: managerClock, bouncer, command: runCommand, files, wakeup });
  await using servers = await serveJson({
    ports: { secure: managerPort, probes: probePort },
    keys: keyMaterial,
    secure: (request) => route(manager, request),
    probe: (request) => probe(manager, request),
  });
  const { signal } = stopping;
  await Promise.all([stepOn(manager, wakeup, signal), renewOn(servers, signal)]);
  await bouncer.stop();
  return 0;
}

const files = {
  writeConfiguration: (text: string) => replaceFile(poolerPaths.configuration, text),
  saveDesired: (desired: DesiredPooler) => replaceFile(poolerPaths.desired, JSON.stringify(desired)),
  readDesired: () =>
    existsSync(poolerPaths.desired)
      ? parseDesiredPooler(JSON.parse(readFileSync(poolerPaths.desired, "utf8")))
      : undefined,
  certificates: () => {
    const { ca, cert } = keyMaterial();
    return ca + cert;
  },
};

function keyMaterial(): KeyMaterial {
  const read = (file: string): string => readFileSync(join(poolerPaths.certificates, file), "utf8");
  return { ca: read("ca.crt"), cert: read("tls.crt"), key: read("tls.key") };
}

async function stepOn(manager: PoolerManager, wakeup: Wakeup, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await manager.step().catch((error: unknown) => manager.fail(error));
    await wakeup.sleep(stepEveryMs, signal);
  }
}

async function renewOn(servers: JsonServers, signal: AbortSignal): Promise<void> {
  let last = files.certificates();
  while (!signal.aborted) {
    await managerClock.sleep(certificatesEveryMs, signal);
    const present = files.certificates();
    if (present !== last) servers.renewCertificates();
    last = present;
  }
}

async function route(manager: PoolerManager, request: IncomingMessage): Promise<unknown> {
  const client = clientOf(request);
  const call = `${request.method} ${request.url}`;
  if (client !== clientNames.operator) throw new Refusal(403, `The certificate of "${client}" may not ask for ${call}`);
  if (call === `GET ${poolerPath}`) return manager.report();
  if (call === `PUT ${poolerPath}`) return manager.follow(parseDesiredPooler(await bodyOf(request)));
  throw new Refusal(404, `There is nothing at ${call}`);
}

/** Only a manager that hangs is restarted. */
async function probe(manager: PoolerManager, request: IncomingMessage): Promise<object> {
  if (request.url === "/alive" || manager.isReady) return {};
  throw new Refusal(503, "The pooler does not serve yet");
}
