import type { Clock } from "../clock.ts";

/** Not `performance.now()`: the first look at it loads all of Node's `perf_hooks`, most of a megabyte in every operator. */
const startedAt = process.hrtime();

function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime(startedAt);
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** The process's real clock and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: monotonicMs,
  setTimer(callback, delayMs, options) {
    // A moment that has passed is now; Node would warn of it.
    const timer = setTimeout(callback, Math.max(0, delayMs));
    if (options?.unref) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  defer(callback) {
    setImmediate(callback);
  },
};
