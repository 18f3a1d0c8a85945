import type { Clock } from "../clock.ts";

/** The process's real clock and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer = setTimeout(callback, delayMs);
    if (options?.unref) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  defer(callback) {
    setImmediate(callback);
  },
};
