/**
 * Time for the instance manager. It runs inside of images of PostgreSQL, from a copy of this package alone,
 * so it brings its own clock.
 */
import { setTimeout as timeout } from "node:timers/promises";

export interface ManagerClock {
  /** Milliseconds that never jump; their origin means nothing. */
  readonly monotonic: () => number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const nanosecondsPerMs = 1_000_000n;

export const managerClock: ManagerClock = {
  monotonic: () => Number(process.hrtime.bigint() / nanosecondsPerMs),
  sleep: (ms, signal) => timeout(ms, undefined, { signal }).catch(() => undefined),
};
