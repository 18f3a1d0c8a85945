/** Time as a program may see it. Nothing outside this package touches timers or the system's clock. */

/** A timer that has not fired yet can be cancelled; afterwards cancelling does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the epoch; may jump when the host's clock is set. For timestamps that people read. */
  now(): number;
  /** Milliseconds since an arbitrary start; never goes back. For durations, deadlines and leases. */
  monotonic(): number;
  /** Calls `callback` once, `delayMs` from now at the earliest, however long that is. A pending timer keeps the process alive unless `unref`. */
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

/** The texts of some seconds, each in the place that its number gives: a write asks for the present one, which others have asked for. */
const texts: { second: number; text: string }[] = Array.from({ length: 32 }, () => ({ second: Number.NaN, text: "" }));

/** A time in milliseconds since 1970 as RFC 3339 with seconds, the format of metav1.Time. */
export function timestampAt(epochMs: number): string {
  const second = Math.floor(epochMs / 1_000);
  const kept = texts[second & 31];
  if (kept?.second === second) return kept.text;
  const text = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`;
  if (kept !== undefined) [kept.second, kept.text] = [second, text];
  return text;
}

/** Now, as `timestampAt`. */
export function timestamp(clock: Clock): string {
  return timestampAt(clock.now());
}

/** RFC 3339 with microseconds, the format of metav1.MicroTime. */
export function microTimestamp(clock: Clock): string {
  const nowMs = Math.floor(clock.now());
  const ms = nowMs - Math.floor(nowMs / 1_000) * 1_000;
  return `${timestampAt(nowMs).slice(0, -1)}.${String(ms).padStart(3, "0")}000Z`;
}
