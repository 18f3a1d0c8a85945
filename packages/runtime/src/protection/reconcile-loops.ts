/**
 * The pace of a key that runs again and again for no reason but itself: doubled from the first to the
 * largest.
 */
const slowMsFirst = 1_000;
const slowMsMax = 60_000;
const windowMs = 60_000;

/** Runs of one key that nothing but the key itself gave a reason for. */
export interface ReconcileLoop {
  readonly windowStartMs: number;
  readonly count: number;
  /** 0: not slowed down. */
  readonly slowMs: number;
  readonly notBeforeMs: number;
}

/**
 * Counts a run that has ended and is due again soon although no input has changed: a status with the time in
 * it, a `requeueAfter(0)` without an end, a reconcile that changes a child back and forth. The loop is slowed
 * down once it has reached `runsPerMinute`.
 */
export function afterIdleRun(loop: ReconcileLoop | undefined, runsPerMinute: number, nowMs: number): ReconcileLoop {
  if (loop !== undefined && isSlow(loop)) return slowed(loop, Math.min(2 * loop.slowMs, slowMsMax), nowMs);
  const isInWindow = loop !== undefined && nowMs - loop.windowStartMs <= windowMs;
  const counted = isInWindow
    ? { ...loop, count: loop.count + 1 }
    : { windowStartMs: nowMs, count: 1, slowMs: 0, notBeforeMs: 0 };
  return counted.count < runsPerMinute ? counted : slowed(counted, slowMsFirst, nowMs);
}

export function isSlow(loop: ReconcileLoop | undefined): boolean {
  return loop !== undefined && loop.slowMs > 0;
}

/** In how many milliseconds the key may run. */
export function loopWaitMs(loop: ReconcileLoop | undefined, nowMs: number): number {
  return Math.max(0, (loop?.notBeforeMs ?? 0) - nowMs);
}

function slowed(loop: ReconcileLoop, slowMs: number, nowMs: number): ReconcileLoop {
  return { ...loop, slowMs, notBeforeMs: nowMs + slowMs };
}
