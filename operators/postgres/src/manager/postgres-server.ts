/** The server process of one instance: starts it, stops it, and tells when it ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { postgresPort } from "../kind/names.ts";
import { paths } from "./paths.ts";
import type { Programs } from "./programs.ts";
import { processName, removeStaleLocks } from "./stale-locks.ts";

/** `fast` ends sessions and writes a checkpoint; after `immediate` the next start recovers. */
export type StopMode = "fast" | "immediate";

const lockFiles = [join(paths.data, "postmaster.pid"), join(paths.socket, `.s.PGSQL.${postgresPort}.lock`)];
const signals: Readonly<Record<StopMode, NodeJS.Signals>> = { fast: "SIGINT", immediate: "SIGQUIT" };

export class PostgresServer {
  readonly #programs: Programs;
  readonly #onExit: () => void;
  #child: ChildProcess | undefined;
  #stopMode: StopMode | undefined;
  #lastFatal: string | undefined;

  constructor(programs: Programs, onExit: () => void) {
    this.#programs = programs;
    this.#onExit = onExit;
  }

  get isAlive(): boolean {
    return this.#child !== undefined;
  }

  get isStopping(): boolean {
    return this.#stopMode !== undefined;
  }

  /** What the server said last before it ended by itself, since its start; undefined: nothing. */
  get lastFatal(): string | undefined {
    return this.#lastFatal;
  }

  /** Its log lines become those of the container. */
  start(): void {
    if (this.#child !== undefined) return;
    removeStaleLocks(lockFiles, processName);
    const child = spawn(this.#programs.path("postgres"), ["-D", paths.data], {
      stdio: ["ignore", "inherit", "pipe"],
    });
    this.#lastFatal = undefined;
    child.stderr.on("data", (piece: Buffer) => {
      process.stderr.write(piece);
      this.#lastFatal = fatalIn(piece) ?? this.#lastFatal;
    });
    const ended = (): void => {
      this.#child = undefined;
      this.#stopMode = undefined;
      this.#onExit();
    };
    child.once("exit", ended);
    child.once("error", ended);
    this.#child = child;
  }

  reload(): void {
    this.#child?.kill("SIGHUP");
  }

  /** Asks the process to end; a stop that goes on already may be made `immediate`, and never slower. */
  requestStop(mode: StopMode): void {
    if (this.#child === undefined || this.#stopMode === mode || this.#stopMode === "immediate") return;
    this.#stopMode = mode;
    this.#child.kill(signals[mode]);
  }

  /** Resolves when the process has ended. */
  async stop(mode: StopMode): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, "exit");
    this.requestStop(mode);
    await exited;
  }
}

/** Sessions that a server turns away while it starts and stops are none of its own faults. */
const turnedAway = /the database system is (starting up|shutting down|not yet accepting)|terminating connection/;

function fatalIn(piece: Buffer): string | undefined {
  if (!piece.includes("FATAL:") && !piece.includes("PANIC:")) return undefined;
  const lines = piece.toString("utf8").split("\n");
  const line = lines.findLast((each) => /(FATAL|PANIC): /.test(each) && !turnedAway.test(each));
  return line?.replace(/^.*?((FATAL|PANIC): )/, "$1").slice(0, 300);
}
