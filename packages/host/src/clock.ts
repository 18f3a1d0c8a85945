/** The time of the host. Nothing outside this package touches timers or the system's clock. */

/** A timer that has not fired yet can be cancelled; afterwards cancelling does nothing. */
export interface Timer {
  cancel(): void;
}

/** The only source of time and timers. A simulated clock replaces it in tests. */
export interface Clock {
  /** Milliseconds since the epoch; may jump when the host's clock is set. For timestamps that people read. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. For durations, deadlines and leases. */
  monotonic(): number;
  /**
   * Calls `callback` once, `delayMs` from now at the earliest, however long that is. A pending timer keeps
   * the process alive unless `unref`.
   */
  setTimer(callback: () => void, delayMs: number, options?: { readonly unref?: boolean }): Timer;
  /** Calls `callback` after the work that is ready now: once a turn, for batching. */
  defer(callback: () => void): void;
}

/** Resolves when everything else that is ready has had its turn. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => clock.defer(resolve));
}

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal === undefined) return void clock.setTimer(resolve, delayMs);
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = clock.setTimer(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** A time in milliseconds since 1970 as RFC 3339 with seconds, the format of metav1.Time. */
export function timestampAt(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
}

/** Now, as `timestampAt`. */
export function timestamp(clock: Clock): string {
  return timestampAt(clock.now());
}

/** RFC 3339 with microseconds, the format of metav1.MicroTime. */
export function microTimestamp(clock: Clock): string {
  return `${new Date(clock.now()).toISOString().slice(0, -1)}000Z`;
}
