import type { Clock, Timer } from "@setpoint/host";

/** One timer for the earliest of several times. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: Timer | undefined;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** Wakes after `delayMs`, or before that when an earlier time was asked for. */
  after(delayMs: number): void {
    const nowMs = this.#clock.monotonic();
    const dueMs = nowMs + Math.max(0, delayMs);
    if (this.#timer !== undefined && this.#dueMs <= dueMs) return;
    this.#timer?.cancel();
    this.#dueMs = dueMs;
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#wake();
    }, dueMs - nowMs);
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}
