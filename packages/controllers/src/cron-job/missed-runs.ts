/** The run of a schedule that is due, among those that were missed. */

/** Something that knows its times, in milliseconds: a cron line. */
export interface Schedule {
  nextAfter(afterMs: number): number;
}

/** The newest time that is not in the future, and how many there were. */
export interface MissedRuns {
  readonly newestMs: number;
  readonly count: "one" | "some" | "too many";
}

/** Above this many missed runs the clock, or the schedule, is probably wrong: an Event says so. */
const missedMax = 100;

/** Undefined when none is due. It does not walk over each missed time: there may be years of minutes. */
export function missedRuns(schedule: Schedule, afterMs: number, nowMs: number): MissedRuns | undefined {
  const first = schedule.nextAfter(afterMs);
  if (first > nowMs) return undefined;
  const second = schedule.nextAfter(first);
  if (second > nowMs) return { newestMs: first, count: "one" };
  const count = Math.floor((nowMs - first) / (second - first)) + 1;
  const newestMs = newest(schedule, Math.max(first, first + (count - 2) * (second - first)), nowMs);
  return { newestMs, count: count > missedMax ? "too many" : "some" };
}

/** From a time of the schedule, or one before it. Irregular schedules have only some steps more. */
function newest(schedule: Schedule, fromMs: number, nowMs: number): number {
  let found = fromMs;
  for (let next = schedule.nextAfter(fromMs - 1); next <= nowMs; next = schedule.nextAfter(next)) found = next;
  return found;
}
