/** When a plan runs; pure. */
import { isSetpointError } from "@setpoint/apimachinery";
import { nextCronRun } from "setpoint/sources";

/** The newest run that is due, if any, and the one after now. */
export interface Due {
  readonly dueMs: number | undefined;
  readonly nextMs: number;
}

/** A schedule with its time zone. */
export interface Schedule {
  readonly schedule: string;
  readonly timeZone: string;
}

/**
 * The runs after `sinceMs`. Of several that were missed only the newest is due. A text says why the line is
 * no schedule.
 */
export function dueRun({ schedule, timeZone }: Schedule, sinceMs: number, nowMs: number): Due | string {
  try {
    const nextAfter = (ms: number): number => nextCronRun(schedule, ms, { timeZone });
    const nextMs = nextAfter(nowMs);
    const isDue = sinceMs < nowMs && nextAfter(sinceMs) <= nowMs;
    return { dueMs: isDue ? newestUntil(nowMs, nextAfter) : undefined, nextMs };
  } catch (error) {
    if (isSetpointError(error, "ERR_CRON_INVALID")) return error.message;
    throw error;
  }
}

/** Goes back in growing steps until a run is found, so that a long absence costs no more than a short one. */
function newestUntil(nowMs: number, nextAfter: (ms: number) => number): number {
  let backMs = 1_000;
  while (nextAfter(nowMs - backMs) > nowMs) backMs *= 2;
  let newest = nextAfter(nowMs - backMs);
  for (let next = nextAfter(newest); next <= nowMs; next = nextAfter(next)) newest = next;
  return newest;
}
