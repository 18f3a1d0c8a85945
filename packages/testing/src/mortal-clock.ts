import type { Clock, Timer } from "@setpoint/host";

const fired: Timer = { cancel() {} };

/** The clock of one simulated process: with the process its timers die, and nothing of it ever runs again. */
export class MortalClock implements Clock {
  readonly #inner: Clock;
  readonly #timers = new Set<Timer>();
  #isDead = false;

  constructor(inner: Clock) {
    this.#inner = inner;
  }

  now(): number {
    return this.#inner.now();
  }

  monotonic(): number {
    return this.#inner.monotonic();
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    if (this.#isDead) return fired;
    const timer = this.#inner.setTimer(() => {
      this.#timers.delete(timer);
      callback();
    }, delayMs);
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  defer(callback: () => void): void {
    this.#inner.defer(() => {
      if (!this.#isDead) callback();
    });
  }

  stop(): void {
    this.#isDead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
