import type { Clock, Timer } from "@setpoint/host";

/** How the clock of a process differs from that of the world. */
export interface ClockSkew {
  /** How far its wall clock is ahead (negative: behind), in milliseconds; default 0. */
  readonly offsetMs?: number;
  /** How fast its time runs: 1.1 gains a tenth; default 1. */
  readonly rate?: number;
}

interface ProcessTimer extends Timer {
  readonly callback: () => void;
  inner: Timer;
}

const fired: Timer = { cancel() {} };

/**
 * The clock of one simulated process. It may be skewed, drift and be set while the process runs. A paused
 * process (SIGSTOP) does nothing until it resumes; then all due timers fire, and time has passed. Its timers
 * die with the process, and none of its code ever runs again.
 */
export class ProcessClock implements Clock {
  readonly #inner: Clock;
  readonly #rate: number;
  readonly #startMs: number;
  readonly #timers = new Set<ProcessTimer>();
  #offsetMs: number;
  #isDead = false;
  #pause: PromiseWithResolvers<void> | undefined;
  #waiting: (() => void)[] = [];

  constructor(inner: Clock, { offsetMs = 0, rate = 1 }: ClockSkew = {}) {
    if (!(rate > 0)) throw new Error(`Cannot make a clock with rate ${rate}: time has to go forward`);
    this.#inner = inner;
    this.#rate = rate;
    this.#offsetMs = offsetMs;
    this.#startMs = inner.monotonic();
  }

  now(): number {
    const sinceStartMs = this.#inner.monotonic() - this.#startMs;
    return Math.round(this.#inner.now() + this.#offsetMs + sinceStartMs * (this.#rate - 1));
  }

  monotonic(): number {
    return this.#startMs + (this.#inner.monotonic() - this.#startMs) * this.#rate;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    if (this.#isDead) return fired;
    const due = (): void => {
      this.#timers.delete(timer);
      this.#do(callback);
    };
    const timer: ProcessTimer = {
      callback,
      inner: this.#inner.setTimer(due, delayMs / this.#rate),
      cancel: () => {
        this.#timers.delete(timer);
        timer.inner.cancel();
        // It may be due already and wait for the end of a pause.
        this.#waiting = this.#waiting.filter((each) => each !== callback);
      },
    };
    this.#timers.add(timer);
    return timer;
  }

  defer(callback: () => void): void {
    this.#inner.defer(() => this.#do(callback));
  }

  /** Sets the wall clock forward or back; timers and durations do not notice. */
  jump(byMs: number): void {
    this.#offsetMs += byMs;
  }

  get isPaused(): boolean {
    return this.#pause !== undefined;
  }

  /** Undefined while the process runs, else resolves when it is resumed. */
  get resumed(): Promise<void> | undefined {
    return this.#pause?.promise;
  }

  pause(): void {
    this.#pause ??= Promise.withResolvers();
  }

  resume(): void {
    const pause = this.#pause;
    if (pause === undefined) return;
    this.#pause = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const callback of waiting) this.#do(callback);
    pause.resolve();
  }

  stop(): void {
    this.#isDead = true;
    for (const timer of this.#timers) timer.inner.cancel();
    this.#timers.clear();
    this.#waiting = [];
  }

  #do(callback: () => void): void {
    if (this.#isDead) return;
    if (this.#pause === undefined) callback();
    else this.#waiting.push(callback);
  }
}
