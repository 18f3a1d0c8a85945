import type { Clock, Timer } from "../clock.ts";
import type { Random } from "../random.ts";
import { type HeapTimer, TimerHeap } from "./timer-heap.ts";

interface PendingTimer extends HeapTimer {
  readonly callback: () => void;
}

import { nextTurn } from "./next-turn.ts";
/**
 * Timers that fire, and calls that are deferred, without any time passing; far more than a busy moment of a
 * cluster has.
 */
const stepsAtOnceMax = 100_000;
/** A promise that is pending for longer than this most likely never settles. */
const waitMsMax = 600_000;

/** 2026-01-01T00:00:00Z: an arbitrary but fixed start, so that timestamps repeat. */
const epochMs = 1_767_225_600_000;

/**
 * A clock that stands still outside of `run`. There time passes from one timer to the next, after everything
 * that is ready has run; so a run needs no real time and depends on nothing but its seed.
 *
 * Caveat: a program under this clock must not wait for anything real (sockets, files, child processes): `run`
 * cannot see it.
 */
export class VirtualClock implements Clock {
  readonly #random: Random;
  readonly #timers = new TimerHeap<PendingTimer>();
  #deferred: (() => void)[] = [];
  #nowMs: number;

  /**
   * `random` breaks ties between timers that are due at the same time, which is how a seed explores orders.
   * Time begins at `startMs`.
   */
  constructor(random: Random, startMs = 0) {
    this.#random = random;
    this.#nowMs = startMs;
  }

  now(): number {
    return epochMs + this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const dueMs = this.#nowMs + Math.max(0, delayMs);
    const timer = { dueMs, order: this.#random.next(), callback, isCancelled: false };
    this.#timers.push(timer);
    return { cancel: () => this.#timers.cancel(timer) };
  }

  defer(callback: () => void): void {
    this.#deferred.push(callback);
  }

  /**
   * Runs until `done` returns true or virtual time has advanced by `limitMs`; returns whether it was `done`.
   * `done` is called whenever nothing is ready to run, before time moves on.
   */
  async run(limitMs: number, done: () => boolean = () => false): Promise<boolean> {
    const deadlineMs = this.#nowMs + limitMs;
    let steps = 0;
    for (;;) {
      await this.settle();
      if (done()) return true;
      const next = this.#timers.first();
      if (next === undefined || next.dueMs > deadlineMs) {
        this.#nowMs = deadlineMs;
        return false;
      }
      this.#timers.shift();
      steps = next.dueMs > this.#nowMs ? 0 : steps + 1;
      this.#assertProgress(steps);
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      next.callback();
    }
  }

  /**
   * Lets time pass until the promise is settled, and settles as it does; rejects when it is still pending
   * after `limitMs`.
   */
  async wait<T>(promise: Promise<T>, limitMs: number = waitMsMax): Promise<T> {
    let isDone = false;
    const watched = promise.finally(() => (isDone = true));
    // Its rejection is the caller's as soon as time has passed.
    watched.catch(() => {});
    if (await this.run(limitMs, () => isDone)) return watched;
    throw new Error(`Cannot wait for the promise: it is still pending after ${limitMs / 1_000} s of virtual time`);
  }

  /** Does everything that is ready now, without moving time. */
  async settle(): Promise<void> {
    let steps = 0;
    do {
      this.#assertProgress(steps++);
      await nextTurn();
    } while (this.#callDeferred());
  }

  /** Whether anything was deferred. */
  #callDeferred(): boolean {
    const deferred = this.#deferred;
    if (deferred.length === 0) return false;
    this.#deferred = [];
    for (const callback of deferred) callback();
    return true;
  }

  #assertProgress(steps: number): void {
    if (steps <= stepsAtOnceMax) return;
    throw new Error(
      `Cannot advance virtual time: ${stepsAtOnceMax} steps at ${this.#nowMs / 1_000} s; find the code that waits for 0 ms in a loop`,
    );
  }
}
