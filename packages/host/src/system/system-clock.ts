import type { Clock, Timer } from "../clock.ts";

/**
 * Not `performance.now()`: the first look at it loads all of Node's `perf_hooks`, most of a megabyte in every
 * operator.
 */
const startedAt = process.hrtime();

function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime(startedAt);
  return seconds * 1_000 + nanoseconds / 1_000_000;
}

/** What Node's timers count to, 24.8 days; what is longer would be due at once. */
const timeoutMsMax = 2 ** 31 - 1;

/** A timer that waits in parts. */
function setLongTimer(callback: () => void, delayMs: number, options: { readonly unref?: boolean } = {}): Timer {
  const goOn = (): void => {
    timer = systemClock.setTimer(callback, delayMs - timeoutMsMax, options);
  };
  let timer = systemClock.setTimer(goOn, timeoutMsMax, options);
  return { cancel: () => timer.cancel() };
}

/** The process's real clock and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: monotonicMs,
  setTimer(callback, delayMs, options) {
    // A moment that has passed is now; Node would warn of it.
    if (delayMs > timeoutMsMax) return setLongTimer(callback, delayMs, options);
    const timer = setTimeout(callback, Math.max(0, delayMs));
    if (options?.unref) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  defer(callback) {
    setImmediate(callback);
  },
};
