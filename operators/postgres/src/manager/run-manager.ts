/** The process of one instance: PostgreSQL's parent, which the kubelet starts and stops. */
import { mkdirSync } from "node:fs";
import { archivePath } from "../kind/names.ts";
import { ArchiveFolder } from "./archive-folder.ts";
import { BaseBackups } from "./base-backup.ts";
import { copyCertificates } from "./certificate-files.ts";
import { DataDirectory } from "./data-directory.ts";
import { InstanceManager } from "./instance-manager.ts";
import { keepLease } from "./lease-keeper.ts";
import { managerClock } from "./manager-clock.ts";
import { type ManagerServers, serveManager } from "./manager-server.ts";
import { paths } from "./paths.ts";
import { PostgresServer } from "./postgres-server.ts";
import { PrimaryLease } from "./primary-lease.ts";
import { Programs } from "./programs.ts";
import { Sql } from "./sql.ts";
import { Wakeup } from "./wakeup.ts";

/** While something is going on, and at rest. */
const stepEveryMs = { busy: 250, atRest: 1_000 };
/** Between two tries of what fails, such as a copy of the primary's data, which costs the primary too. */
const retryMsMax = 10_000;
/** The primary of a new cluster needs a few seconds until it can be copied. */
const quickTries = 16;
const fenceEveryMs = 100;
const certificatesEveryMs = 5_000;
const ownerOnly = 0o700;

/** Runs until the process is asked to end; resolves with its exit code. */
export async function runManager(name: string): Promise<number> {
  mkdirSync(paths.socket, { recursive: true, mode: ownerOnly });
  copyCertificates();
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => stopping.abort());
  const programs = Programs.find();
  const server = new PostgresServer(programs, () => manager.serverEnded());
  const sql = new Sql(programs, managerClock);
  const archive = new ArchiveFolder(archivePath);
  archive.serverEnds(false);
  const manager = new InstanceManager({
    name,
    clock: managerClock,
    data: new DataDirectory(programs),
    server,
    sql,
    lease: new PrimaryLease(),
    archive,
    wakeup: new Wakeup(managerClock),
  });
  await using servers = await serveManager({
    manager,
    backups: new BaseBackups(programs, () => sql.now()),
    sql,
    programs,
  });
  const { signal } = stopping;
  await Promise.all([
    stepOn(manager, signal),
    fenceOn(manager, signal),
    renewOn(servers, server, signal),
    keepLease({ manager, clock: managerClock }, signal),
  ]);
  await manager.shutDown();
  return 0;
}

async function stepOn(manager: InstanceManager, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await manager.step(signal);
      failures = 0;
    } catch (error) {
      if (!signal.aborted) manager.fail(error);
      failures++;
    }
    await manager.pause(pauseMs(manager, failures), signal);
  }
}

/** A new document ends the pause: what failed may go well with it. */
function pauseMs({ isSettled }: InstanceManager, failures: number): number {
  if (failures > quickTries) return Math.min(retryMsMax, stepEveryMs.busy * 2 ** (failures - quickTries));
  return isSettled ? stepEveryMs.atRest : stepEveryMs.busy;
}

/** Beside the steps, one of which may copy data for hours. */
async function fenceOn(manager: InstanceManager, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    manager.fence();
    await managerClock.sleep(fenceEveryMs, signal);
  }
}

async function renewOn(servers: ManagerServers, server: PostgresServer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await managerClock.sleep(certificatesEveryMs, signal);
    if (!copyCertificates()) continue;
    servers.renewCertificates();
    server.reload();
  }
}
