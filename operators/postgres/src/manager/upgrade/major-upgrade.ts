/**
 * Upgrades the data of one instance to the next major version by pg_upgrade, which copies them: what was
 * there stays as it is, and is the way back. A process that is killed finds what is complete and goes on.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ServerSettings } from "../../instance/instance-protocol.ts";
import type { WantedUpgrade } from "../../instance/upgrade-protocol.ts";
import { configurationText } from "../configuration-files.ts";
import { replaceFile } from "../data-directory.ts";
import { paths } from "../paths.ts";
import { lastLine, Programs } from "../programs.ts";
import { SettingsTrial } from "../settings-trial.ts";
import { processName, removeStaleLocks } from "../stale-locks.ts";
import {
  canClone,
  goOnAfter,
  safetyFolder,
  takeSafetyCopy,
  dropSafetyCopy,
  isUpgraded,
  majorVersionOf,
  markUpgraded,
  spaceProblem,
  takeUpgraded,
  writeHistory,
  hexadecimal,
} from "./data-folders.ts";
import { endServers } from "./left-servers.ts";
import { upgradeProblem } from "./upgrade-output.ts";

const ownerOnly = 0o700;
/** Nobody archives, and nobody waits for replicas, while pg_upgrade runs servers. */
const serverOptions = "-c archive_mode=off -c synchronous_standby_names= -c log_destination=stderr";

interface UpgradeRequest {
  readonly wanted: WantedUpgrade;
  readonly settings: ServerSettings;
  readonly name: string;
}

export class MajorUpgrade {
  readonly #programs: Programs;

  constructor(programs: Programs) {
    this.#programs = programs;
  }

  /** Why the data cannot be upgraded; the server runs meanwhile. */
  async check({ wanted, settings, name }: UpgradeRequest, signal: AbortSignal): Promise<readonly string[]> {
    const next = nextPrograms(wanted.to);
    const space = spaceProblem();
    try {
      await this.#create(next, paths.checkData, signal);
      const refused = await new SettingsTrial(next, paths.checkData).errorsOf(settings, name, signal);
      const problem = await this.#pgUpgrade(next, paths.checkData, ["--check"], signal);
      return [...(space === undefined ? [] : [space]), ...refused, ...(problem === undefined ? [] : [problem])];
    } finally {
      rmSync(paths.checkData, { recursive: true, force: true });
    }
  }

  /** Upgrades the data of a stopped server. Its new identifier; rejects with what PostgreSQL says. */
  async run(request: UpgradeRequest, signal: AbortSignal): Promise<string> {
    const { from, to, id } = request.wanted;
    if (majorVersionOf(paths.data) !== to || !isUpgraded(paths.data, id)) {
      if (!isUpgraded(paths.newData, id)) await this.#upgrade(request, signal);
      signal.throwIfAborted();
      takeUpgraded(from);
    }
    return this.#control(nextPrograms(to), paths.data, "Database system identifier", signal);
  }

  /** Lets the data from before an upgrade go on, on a timeline that is newer than `newest`. */
  async takeBack(version: string, newest: number, signal: AbortSignal): Promise<void> {
    const folder = safetyFolder(version);
    const own = Number(await this.#control(this.#programs, folder, "Latest checkpoint's TimeLineID", signal));
    goOnAfter(folder, { own, newest });
    takeSafetyCopy(version);
  }

  /** Computes the statistics that pg_upgrade leaves out, first rough ones; a second time does no harm. */
  async analyze(signal: AbortSignal): Promise<void> {
    const args = ["-h", paths.socket, "-U", "postgres", "--all", "--analyze-in-stages"];
    const { code, output } = await this.#programs.run("vacuumdb", args, { signal });
    if (code !== 0) throw new Error(`vacuumdb ended with ${code}: ${lastLine(output)}`);
    rmSync(paths.analyze, { force: true });
  }

  async #upgrade({ wanted, settings, name }: UpgradeRequest, signal: AbortSignal): Promise<void> {
    const next = nextPrograms(wanted.to);
    await endServers(signal);
    dropSafetyCopy(wanted.from);
    const space = spaceProblem();
    if (space !== undefined) throw new Error(space);
    await this.#recover(signal);
    await this.#create(next, paths.newData, signal);
    replaceFile(join(paths.newData, "postgresql.conf"), configurationText(settings, { name }));
    const transfer = canClone() ? "--clone" : "--copy";
    try {
      const problem = await this.#pgUpgrade(next, paths.newData, [transfer, "--jobs", "2"], signal);
      if (problem !== undefined) throw new Error(problem);
    } finally {
      // Also when it was broken off.
      await endServers(new AbortController().signal);
    }
    await this.#beginTimeline(next, wanted.timeline, signal);
    markUpgraded(paths.newData, wanted.id);
  }

  /** pg_upgrade asks for data whose server stopped cleanly; one that was killed recovers. */
  async #recover(signal: AbortSignal): Promise<void> {
    removeStaleLocks([join(paths.data, "postmaster.pid")], processName);
    if ((await this.#control(this.#programs, paths.data, "Database cluster state", signal)) === "shut down") return;
    const args = ["--single", "-D", paths.data, "-c", "archive_mode=off", "template1"];
    await this.#ran(this.#programs, "postgres", args, signal);
  }

  /** pg_upgrade takes locale and encoding over; the rest must be as in the old data. */
  async #create(next: Programs, folder: string, signal: AbortSignal): Promise<void> {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: ownerOnly });
    const value = (label: string): Promise<string> => this.#control(this.#programs, paths.data, label, signal);
    const hasChecksums = (await value("Data page checksum version")) !== "0";
    const segmentBytes = Number(await value("Bytes per WAL segment"));
    const args = ["-D", folder, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8"];
    const sizes = [`--wal-segsize=${segmentBytes / (1 << 20)}`, ...(hasChecksums ? ["--data-checksums"] : [])];
    await this.#ran(next, "initdb", [...args, ...sizes], signal);
  }

  async #pgUpgrade(
    next: Programs,
    folder: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    mkdirSync(paths.upgradeSocket, { recursive: true, mode: ownerOnly });
    const folders = ["-b", this.#programs.folder, "-B", next.folder, "-d", paths.data, "-D", folder];
    const args = [...options, ...folders, "-U", "postgres", "-s", paths.upgradeSocket];
    const servers = ["-o", serverOptions, "-O", serverOptions];
    const { code, output } = await next.run("pg_upgrade", [...args, ...servers], {
      signal,
      folder: paths.upgradeSocket,
    });
    signal.throwIfAborted();
    return code === 0 ? undefined : `pg_upgrade: ${upgradeProblem(output, textOf)}`;
  }

  /**
   * pg_upgrade begins with timeline 1, which the archive has already. On a timeline of its own the log is a
   * history of its own: it needs a base backup of its own.
   */
  async #beginTimeline(next: Programs, timeline: number, signal: AbortSignal): Promise<void> {
    const first = `${hexadecimal(timeline)}0000000000000001`;
    await this.#ran(next, "pg_resetwal", ["-l", first, "-D", paths.newData], signal);
    writeHistory(paths.newData, timeline);
  }

  /** What the control file of data says. */
  async #control(programs: Programs, folder: string, label: string, signal: AbortSignal): Promise<string> {
    const { code, output } = await programs.run("pg_controldata", ["-D", folder], { signal });
    const value = new RegExp(`^${label}:\\s*(.*)$`, "m").exec(output)?.[1];
    if (code !== 0 || value === undefined)
      throw new Error(`pg_controldata does not say "${label}": ${lastLine(output)}`);
    return value;
  }

  async #ran(programs: Programs, program: string, args: readonly string[], signal: AbortSignal): Promise<void> {
    const { code, output } = await programs.run(program, args, { signal });
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${lastLine(output)}`);
  }
}

function nextPrograms(version: string): Programs {
  const found = Programs.findNext(version);
  if (found === undefined) throw new Error(`This pod has no programs of PostgreSQL ${version}`);
  return found;
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
