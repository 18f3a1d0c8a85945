import type { Random } from "@setpoint/host";
import type { QueuedKey } from "./queued-key.ts";

/** The back-off of a failing key: doubled from the first to the largest; as in controller-runtime. */
const retryDelayMsFirst = 5;
const retryDelayMsMax = 1_000_000;

/** How often one key may run. */
export interface RateLimit {
  /** The time between two runs of a key, on average. */
  readonly minIntervalMs: number;
  /** Runs that may follow each other at once after a rest; default 1. */
  readonly burst?: number;
}

/**
 * The exponential back-off of keys that fail, client-go's `ItemExponentialFailureRateLimiter` with jitter.
 */
export class FailureRateLimiter {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Counts a failure; returns how long to wait before the key runs again, at most `delayMsMax`. */
  when(item: QueuedKey, delayMsMax: number = retryDelayMsMax): number {
    const fullMs = Math.min(retryDelayMsFirst * 2 ** item.failures, delayMsMax, retryDelayMsMax);
    item.failures++;
    // Half of it is jitter, so that keys that failed together do not come back together.
    return fullMs * (0.5 + this.#random.next() / 2);
  }

  forget(item: QueuedKey): void {
    item.failures = 0;
  }
}

/**
 * A bucket of runs for each key, client-go's `BucketRateLimiter`: a run takes one, and one comes back every
 * `minIntervalMs`.
 */
export class BucketRateLimiter {
  readonly #minIntervalMs: number;
  readonly #burst: number;

  constructor({ minIntervalMs, burst = 1 }: RateLimit) {
    this.#minIntervalMs = minIntervalMs;
    this.#burst = burst;
  }

  /** The monotonic time from which the key may run; in the past when it may run at once. */
  allowedMs(item: QueuedKey): number {
    return item.usedUntilMs - (this.#burst - 1) * this.#minIntervalMs;
  }

  /** Counts a run. */
  take(item: QueuedKey, nowMs: number): void {
    item.usedUntilMs = Math.max(nowMs, item.usedUntilMs) + this.#minIntervalMs;
  }
}
