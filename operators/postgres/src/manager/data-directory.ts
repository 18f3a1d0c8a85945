/**
 * The data of one instance: creates them, copies them from the primary, and lets them go back to where they
 * parted from the primary's. What is under construction lies beside and is renamed when it is complete.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerSettings } from "../instance/instance-protocol.ts";
import { postgresPort } from "../kind/names.ts";
import type { ServerLimits } from "../instance/server-limits.ts";
import { accessText, configurationText, connectionText, type ServerIdentity } from "./configuration-files.ts";
import { paths } from "./paths.ts";
import { lastLine, type Programs } from "./programs.ts";

/** What PostgreSQL's control file says while no server runs. */
export interface ControlFile {
  readonly systemId: string;
  readonly timeline: number;
  /** Of the last checkpoint. */
  readonly position: string;
  /** Those of the primary, as far as its log has been replayed. */
  readonly limits: ServerLimits;
}

const standbyFile = join(paths.data, "standby.signal");
const recoveryFile = join(paths.data, "recovery.signal");
const ownerOnly = 0o700;

export class DataDirectory {
  readonly #programs: Programs;

  constructor(programs: Programs) {
    this.#programs = programs;
  }

  get exists(): boolean {
    return existsSync(join(paths.data, "PG_VERSION"));
  }

  /** Whether a server that starts on the data follows a primary. */
  get isStandby(): boolean {
    return existsSync(standbyFile);
  }

  /** Whether a server that starts on the data replays an archive first, up to the target of a restore. */
  get isRecovering(): boolean {
    return existsSync(recoveryFile) && !this.isStandby;
  }

  /** Once the server has recovered, nobody needs the segments any more. */
  forgetArchived(): void {
    rmSync(paths.archived, { recursive: true, force: true });
  }

  /** Not before the next start: a running server would take each setting that goes for a change. */
  forgetRecovery(): void {
    rmSync(paths.recovery, { force: true });
    this.forgetArchived();
  }

  /** Whether the server of another instance accepts connections. */
  async isReachable(host: string, signal: AbortSignal): Promise<boolean> {
    const args = ["-h", host, "-p", String(postgresPort), "-t", "3"];
    return (await this.#programs.run("pg_isready", args, { signal })).code === 0;
  }

  /**
   * Takes the target of a time or a position away: all changes up to it have been replayed when none follows.
   * A mark or a transaction that was not found stays an error.
   */
  replayToEnd(): void {
    const text = existsSync(paths.recovery) ? readFileSync(paths.recovery, "utf8") : "";
    replaceFile(paths.recovery, withoutReachedTarget(text));
  }

  becomeStandby(): void {
    writeFileSync(standbyFile, "");
    rmSync(recoveryFile, { force: true });
  }

  /**
   * Has a new primary archive again what the volume still has of the log. A replica takes for archived what
   * it receives, and the former primary may have ended before that was true. A segment may be stored twice.
   */
  archiveAgain(): void {
    const folder = join(paths.data, "pg_wal", "archive_status");
    for (const name of readdirSync(folder))
      if (name.endsWith(".done")) renameSync(join(folder, name), join(folder, name.replace(/done$/, "ready")));
  }

  /** Creates a new cluster of databases; `fill` writes to it before it counts. */
  async create(signal: AbortSignal, fill: (folder: string) => Promise<void> = async () => {}): Promise<void> {
    const args = ["-U", "postgres", "--auth=trust", "--data-checksums", "-E", "UTF8", "--locale=C.UTF-8"];
    await this.build(async (folder) => {
      await this.#run("initdb", ["-D", folder, ...args], signal);
      await fill(folder);
    });
  }

  /** Takes what is built in an empty folder for the data, when it is complete. */
  async build(fill: (folder: string) => Promise<void>): Promise<void> {
    this.#clear();
    await fill(paths.newData);
    rmSync(paths.data, { recursive: true, force: true });
    renameSync(paths.newData, paths.data);
  }

  /** Copies the data of the primary. */
  async clone(host: string, name: string, signal: AbortSignal): Promise<void> {
    const args = ["-d", connectionText(host, name), "-X", "stream", "-c", "fast", "--no-password"];
    await this.build(async (folder) => {
      await this.#run("pg_basebackup", [...args, "-D", folder], signal);
      writeFileSync(join(folder, "standby.signal"), "");
      // The primary may still replay an archive, and its copy says so.
      rmSync(join(folder, "recovery.signal"), { force: true });
    });
  }

  /** Takes back what the primary does not have; returns why that is impossible, in the words of pg_rewind. */
  async rewind(host: string, name: string, signal: AbortSignal): Promise<string | undefined> {
    const args = ["-D", paths.data, "--source-server", connectionText(host, name)];
    const { code, output } = await this.#programs.run("pg_rewind", args, { signal });
    if (code !== 0) return `pg_rewind ended with ${code}: ${lastLine(output)}`;
    this.becomeStandby();
    return undefined;
  }

  /** Writes the configuration; whether it differs from what was there. */
  configure(settings: ServerSettings, identity: ServerIdentity): boolean {
    const files = configurationFiles(settings, identity);
    const changed = Object.entries(files).filter(([name, text]) => !isText(join(paths.data, name), text));
    for (const [name, text] of changed) replaceFile(join(paths.data, name), text);
    return changed.length > 0;
  }

  /** Asks something while these files are there; the server is not told to read them, and keeps its own. */
  async whileConfigured<T>(settings: ServerSettings, identity: ServerIdentity, ask: () => Promise<T>): Promise<T> {
    const names = Object.keys(configurationFiles(settings, identity)).map((name) => join(paths.data, name));
    const before = names.map((path) => [path, readFileSync(path, "utf8")] as const);
    this.configure(settings, identity);
    try {
      return await ask();
    } finally {
      for (const [path, text] of before) replaceFile(path, text);
    }
  }

  /** Undefined when it cannot be read. */
  async control(signal: AbortSignal): Promise<ControlFile | undefined> {
    const { code, output } = await this.#programs.run("pg_controldata", ["-D", paths.data], { signal });
    if (code !== 0) return undefined;
    const value = (label: string): string => new RegExp(`^${label}:\\s*(.*)$`, "m").exec(output)?.[1] ?? "";
    return {
      systemId: value("Database system identifier"),
      timeline: Number(value("Latest checkpoint's TimeLineID")),
      position: value("Latest checkpoint location"),
      limits: {
        max_connections: Number(value("max_connections setting")),
        max_locks_per_transaction: Number(value("max_locks_per_xact setting")),
        max_prepared_transactions: Number(value("max_prepared_xacts setting")),
        max_wal_senders: Number(value("max_wal_senders setting")),
        max_worker_processes: Number(value("max_worker_processes setting")),
      },
    };
  }

  #clear(): void {
    rmSync(paths.newData, { recursive: true, force: true });
    mkdirSync(paths.newData, { mode: ownerOnly });
  }

  async #run(program: string, args: readonly string[], signal: AbortSignal): Promise<void> {
    const { code, output } = await this.#programs.run(program, args, { signal });
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${lastLine(output)}`);
  }
}

function configurationFiles(settings: ServerSettings, identity: ServerIdentity): Readonly<Record<string, string>> {
  return {
    "postgresql.conf": configurationText(settings, { ...identity, recovers: existsSync(paths.recovery) }),
    "pg_hba.conf": accessText(settings),
    // It comes along with copied data, and would win over postgresql.conf.
    "postgresql.auto.conf": "",
  };
}

export function withoutReachedTarget(text: string): string {
  return text.replaceAll(/^recovery_target_(time|lsn) = .*\n/gm, "");
}

function isText(path: string, text: string): boolean {
  return existsSync(path) && readFileSync(path, "utf8") === text;
}

/** A reader sees the old text or the new one. */
export function replaceFile(path: string, text: string, mode = 0o600): void {
  writeFileSync(`${path}.new`, text, { mode });
  renameSync(`${path}.new`, path);
}
