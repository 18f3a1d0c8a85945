/** The process of one instance: PostgreSQL's parent, which the kubelet starts and stops. */
import { mkdirSync } from "node:fs";
import { archivePath } from "../kind/names.ts";
import { ArchiveFolder } from "./archive-folder.ts";
import { BaseBackups } from "./base-backup.ts";
import { copyCertificates } from "./certificate-files.ts";
import { DataDirectory } from "./data-directory.ts";
import { documentFile } from "./document-file.ts";
import { DataImport } from "./import/data-import.ts";
import { ensureInnerObjects, readPassword } from "./inner-objects.ts";
import { InstanceManager } from "./instance-manager.ts";
import { keepLease } from "./lease-keeper.ts";
import { managerClock } from "./manager-clock.ts";
import { fenceOn, stepOn } from "./manager-loops.ts";
import { type ManagerServers, serveManager } from "./manager-server.ts";
import { serveMetrics } from "./metrics/metrics-server.ts";
import { Monitor } from "./metrics/monitor.ts";
import { BaseCopy } from "./other-server/base-copy.ts";
import { paths } from "./paths.ts";
import { askPeer } from "./peer-connection.ts";
import { PostgresServer } from "./postgres-server.ts";
import { PrimaryLease } from "./primary-lease.ts";
import { Programs } from "./programs.ts";
import { SettingsKeeper } from "./settings-keeper.ts";
import { SettingsTrial } from "./settings-trial.ts";
import { Sql } from "./sql.ts";
import { MajorUpgrade } from "./upgrade/major-upgrade.ts";
import { UpgradeKeeper } from "./upgrade/upgrade-keeper.ts";
import { Wakeup } from "./wakeup.ts";

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
  const data = new DataDirectory(programs);
  const complain = (line: string): void => void process.stderr.write(`${line}\n`);
  const archive = new ArchiveFolder(archivePath);
  archive.serverEnds(false);
  const manager = new InstanceManager({
    name,
    clock: managerClock,
    data,
    server,
    sql,
    lease: new PrimaryLease(),
    archive,
    document: documentFile,
    settings: new SettingsKeeper({ name, trial: new SettingsTrial(programs), data, sql }),
    innerObjects: { readPassword, ensure: (database) => ensureInnerObjects(sql, database) },
    dataImport: new DataImport(programs),
    baseCopy: new BaseCopy(programs),
    upgrade: new UpgradeKeeper({
      name,
      programVersion: programs.majorVersion,
      clock: managerClock,
      upgrade: new MajorUpgrade(programs),
      complain,
    }),
    wakeup: new Wakeup(managerClock),
    complain,
  });
  await using servers = await serveManager({
    manager,
    backups: new BaseBackups(programs, () => sql.now()),
    sql,
    programs,
  });
  await using _metrics = await serveMetrics(new Monitor({ manager, sql, programs }));
  const { signal } = stopping;
  await Promise.all([
    stepOn(manager, signal),
    fenceOn(manager, managerClock, signal),
    renewOn(servers, server, signal),
    keepLease({ manager, clock: managerClock, askPeer }, signal),
  ]);
  await manager.shutDown();
  return 0;
}

async function renewOn(servers: ManagerServers, server: PostgresServer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await managerClock.sleep(certificatesEveryMs, signal);
    if (!copyCertificates()) continue;
    servers.renewCertificates();
    server.reload();
  }
}
