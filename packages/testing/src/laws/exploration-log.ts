/** Hears what the threads of an exploration say, keeps it, and says how far they are. */
import type { Clock } from "@setpoint/host";
import { type OpenFailure, type Progress, type ProgressCounts, readProgress, writeProgress } from "./progress.ts";

/** How often the file is written at most. */
const saveMs = 5_000;
const progressMs = 10_000;

/** The progress of an exploration. */
export interface Moment extends ProgressCounts {
  readonly tookMs: number;
  /** Runs now, without reference runs and those that shrink a failure. */
  readonly runs: number;
  readonly failures: number;
  /** The last run. */
  readonly last: string;
}

export interface LogOptions {
  readonly onProgress: ((moment: Moment) => void) | undefined;
  readonly onFailure: ((text: string) => void) | undefined;
  readonly workers: number;
  readonly resume: string | undefined;
  readonly clock: Clock;
}

/** Hears what all threads say. */
export class ExplorationLog {
  readonly progress: Progress;
  readonly #options: LogOptions;
  readonly #startedMs: number;
  /** How many threads have ended their share of what all of them have a share in. */
  readonly #shared = new Map<string, number>();
  #savedMs: number;
  #toldMs: number;
  #runs = 0;

  constructor(options: LogOptions) {
    this.#options = options;
    this.progress = readProgress(options.resume);
    this.#startedMs = options.clock.monotonic();
    this.#savedMs = this.#startedMs;
    this.#toldMs = this.#startedMs;
  }

  ran(what: string): void {
    this.#runs++;
    const nowMs = this.#options.clock.monotonic();
    if (nowMs - this.#toldMs < progressMs) return;
    this.#toldMs = nowMs;
    const failures = this.progress.failures.length;
    const moment = { ...this.progress.counts, tookMs: nowMs - this.#startedMs, runs: this.#runs, failures, last: what };
    this.#options.onProgress?.(moment);
  }

  done(name: string): void {
    // Each thread has a share of the pairs of each first fault.
    const threads = name.includes(" pairs of ") ? (this.#shared.get(name) ?? 0) + 1 : this.#options.workers;
    this.#shared.set(name, threads);
    if (threads >= this.#options.workers) this.progress.add(name);
    if (this.#options.clock.monotonic() - this.#savedMs >= saveMs) this.save();
  }

  failed(failure: OpenFailure): void {
    this.progress.fail(failure);
    this.#options.onFailure?.(failure.text);
    this.save();
  }

  save(): void {
    const { resume, clock } = this.#options;
    if (resume !== undefined) writeProgress(resume, this.progress);
    this.#savedMs = clock.monotonic();
  }
}
