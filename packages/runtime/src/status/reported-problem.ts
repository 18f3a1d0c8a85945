/**
 * A report whose text alone has changed is written again after so long: a reason with the time in it must not
 * become a write a retry.
 */
const rewriteMsMin = 10_000;
/** What a delay is rounded up to, so that a report of it stays the same while the back-off grows a little. */
const delaySteps: readonly (readonly [number, string])[] = [
  [10_000, "10 s"],
  [60_000, "1 min"],
  [300_000, "5 min"],
  [1_200_000, "20 min"],
  [3_600_000, "1 h"],
  [21_600_000, "6 h"],
  [86_400_000, "24 h"],
];

/** What the conditions and events of an object say is wrong with it. */
export interface ReportedProblem {
  readonly message: string;
  /** Monotonic. */
  readonly reportedMs: number;
}

/**
 * In how many milliseconds a report is due that reads like this: 0 now, undefined when it reads so already.
 */
export function reportDueMs(reported: ReportedProblem | undefined, message: string, nowMs: number): number | undefined {
  if (reported === undefined) return 0;
  if (reported.message === message) return undefined;
  return Math.max(0, reported.reportedMs + rewriteMsMin - nowMs);
}

/** `in at most 1 min`: an upper bound from a few steps. */
export function withinText(delayMs: number): string {
  const step = delaySteps.find(([ms]) => delayMs <= ms);
  return `in at most ${step?.[1] ?? `${Math.ceil(delayMs / 86_400_000)} days`}`;
}
