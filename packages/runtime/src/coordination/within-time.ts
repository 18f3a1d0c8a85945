import type { Clock } from "@setpoint/host";

/** An attempt that is over after `limitMs`, whatever the transport does with its signal. */
export async function withinTime<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const over = Promise.withResolvers<never>();
  // Nobody may be left to hear it.
  over.promise.catch(() => {});
  const end = (error: unknown): void => {
    limit.abort(error);
    over.reject(error);
  };
  const onAbort = (): void => end(signal.reason);
  const timer = clock.setTimer(() => end(new Error("the server did not answer in time")), limitMs);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([attempt(limit.signal), over.promise]);
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", onAbort);
  }
}
