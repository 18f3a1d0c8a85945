/**
 * Makes PgBouncer what the operator says that it should be: to which server it connects, and whether its
 * clients wait. A pause ends by itself, so that an operator that is gone holds nobody up.
 */
import { hashOf } from "../../instance/document-hash.ts";
import type { DesiredPooler, PoolerReport } from "../../instance/pooler-protocol.ts";
import type { ManagerClock } from "../manager-clock.ts";
import { Refusal } from "../refusal.ts";
import type { Wakeup } from "../wakeup.ts";
import type { Row } from "./admin-console.ts";
import type { Pgbouncer } from "./pgbouncer.ts";
import { poolerConfiguration } from "./pooler-files.ts";

export interface PoolerManagerParts {
  readonly clock: ManagerClock;
  readonly bouncer: Pick<Pgbouncer, "isAlive" | "start" | "lastWords">;
  /** Runs a command of the admin console. */
  readonly command: (text: string, signal: AbortSignal) => Promise<readonly Row[]>;
  readonly files: {
    readonly writeConfiguration: (text: string) => void;
    readonly saveDesired: (desired: DesiredPooler) => void;
    readonly readDesired: () => DesiredPooler | undefined;
    /** Changes with the certificates. */
    readonly certificates: () => string;
  };
  /** Woken when there is something to do at once. */
  readonly wakeup: Wakeup;
}

const commandMsMax = 2_000;
/** A process that ends is not started again at once. */
const restartMs = 1_000;

export class PoolerManager {
  readonly #parts: PoolerManagerParts;
  #desired: DesiredPooler | undefined;
  /** The configuration and the certificates that the process has read. */
  #loaded = "";
  #startedMs = Number.NEGATIVE_INFINITY;
  #pauseUntilMs = Number.NEGATIVE_INFINITY;
  #pause: PoolerReport["pause"] = "no";
  #pausing = new AbortController();
  #version: string | undefined;
  #message: string | undefined;

  constructor(parts: PoolerManagerParts) {
    this.#parts = parts;
    this.#desired = parts.files.readDesired();
  }

  get isReady(): boolean {
    return this.#desired !== undefined && this.#version !== undefined && this.#parts.bouncer.isAlive;
  }

  async follow(desired: DesiredPooler): Promise<PoolerReport> {
    const { term = 0 } = this.#desired ?? {};
    if (desired.term < term)
      throw new Refusal(409, `Cannot go back to term ${desired.term}: this pooler has seen term ${term}`);
    const { pauseMs, ...rest } = desired;
    this.#pauseUntilMs = pauseMs === undefined ? Number.NEGATIVE_INFINITY : this.#parts.clock.monotonic() + pauseMs;
    if (this.#desired === undefined || hashOf(rest) !== hashOf(this.#desired)) this.#parts.files.saveDesired(rest);
    this.#desired = rest;
    this.#parts.wakeup.wake();
    return this.report();
  }

  async report(): Promise<PoolerReport> {
    const pools = this.isReady ? await this.#ask("show pools").catch(() => undefined) : undefined;
    const sum = (column: string): number | undefined =>
      pools?.reduce((total, row) => total + Number(row[column] ?? 0), 0);
    const isLoaded = this.#desired !== undefined && this.#loaded === this.#wantedText(this.#desired);
    return {
      follows: this.#desired === undefined || !isLoaded ? "" : hashOf(this.#desired),
      term: this.#desired?.term ?? 0,
      pause: this.#pause,
      isRunning: this.#parts.bouncer.isAlive,
      version: this.#version,
      waiting: sum("cl_waiting"),
      active: sum("cl_active"),
      message: this.#message,
    };
  }

  /** Called when the process has ended. */
  ended(): void {
    this.#version = undefined;
    this.#loaded = "";
    this.#pause = "no";
    this.#pausing.abort();
    this.#message = this.#parts.bouncer.lastWords;
    this.#parts.wakeup.wake();
  }

  fail(error: unknown): void {
    this.#message = error instanceof Error ? error.message : String(error);
  }

  /** The next thing to do. Rejects with what could not be done. */
  async step(): Promise<void> {
    const desired = this.#desired;
    if (desired === undefined) {
      this.#message = "waiting for the operator";
      return;
    }
    if (!this.#parts.bouncer.isAlive) return this.#start(desired);
    this.#version ??= (await this.#ask("show version"))[0]?.["version"];
    // A pause comes before a new server, and ends after it.
    if (this.#mustPause()) this.#beginPause();
    if (this.#loaded !== this.#wantedText(desired)) await this.#reload(desired);
    if (!this.#mustPause() && this.#pause !== "no") await this.#resume();
    this.#message = undefined;
  }

  #wantedText(desired: DesiredPooler): string {
    return `${poolerConfiguration(desired)}${this.#parts.files.certificates()}`;
  }

  #start(desired: DesiredPooler): void {
    const { bouncer, clock, files, wakeup } = this.#parts;
    if (clock.monotonic() - this.#startedMs < restartMs) return;
    this.#startedMs = clock.monotonic();
    files.writeConfiguration(poolerConfiguration(desired));
    this.#loaded = this.#wantedText(desired);
    bouncer.start();
    wakeup.wake();
  }

  async #reload(desired: DesiredPooler): Promise<void> {
    const wanted = this.#wantedText(desired);
    this.#parts.files.writeConfiguration(poolerConfiguration(desired));
    await this.#ask("reload");
    this.#loaded = wanted;
  }

  #mustPause(): boolean {
    return this.#parts.clock.monotonic() < this.#pauseUntilMs;
  }

  /** Its answer comes when no transaction is open any more; clients wait from now on. */
  #beginPause(): void {
    if (this.#pause !== "no") return;
    this.#pause = "pausing";
    this.#pausing = new AbortController();
    const { signal } = this.#pausing;
    this.#parts.command("pause", signal).then(
      () => void (this.#pause = signal.aborted ? this.#pause : "yes"),
      (error: unknown) => {
        if (signal.aborted) return;
        this.#pause = "no";
        this.fail(error);
      },
    );
  }

  /** A pause that is not complete ends with its connection. */
  async #resume(): Promise<void> {
    this.#pausing.abort();
    await this.#ask("resume").catch((error: unknown) => {
      if (!String(error).includes("not paused")) throw error;
    });
    this.#pause = "no";
  }

  #ask(text: string): Promise<readonly Row[]> {
    return this.#parts.command(text, AbortSignal.timeout(commandMsMax));
  }
}
