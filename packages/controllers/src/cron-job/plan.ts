/** What a CronJob does next, as upstream's controller does (kubernetes-api.md 10.6). */
import type { CronJob } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { type MissedRuns, missedRuns, type Schedule } from "./missed-runs.ts";

/** A Job of the CronJob. */
export interface SeenRun {
  readonly name: string;
  /** Its last condition. */
  readonly ended: "Complete" | "Failed" | undefined;
  readonly startedMs: number;
  readonly completedMs: number | undefined;
  /** The time of the schedule that it was made for. */
  readonly scheduledMs: number | undefined;
}

export interface SeenCronJob {
  readonly cronJob: Stored<CronJob>;
  readonly runs: readonly SeenRun[];
  readonly schedule: Schedule;
  readonly nowMs: number;
}

/** An Event of the CronJob. */
export interface CronEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

export interface CronPlan {
  /** Names of Jobs that go: they are old, or give way to a new one. */
  readonly remove: readonly string[];
  /** The time of the schedule for which a Job is made. */
  readonly startMs: number | undefined;
  readonly lastScheduledMs: number | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly events: readonly CronEvent[];
  /** When the next run is due; undefined while suspended. */
  readonly recheckMs: number | undefined;
}

const tooMany = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
const forbidden = "Not starting job because prior execution is running and concurrency policy is Forbid";

/** Pure: the same view always gives the same plan. */
export function planCronJob(seen: SeenCronJob): CronPlan {
  const { cronJob, runs, schedule, nowMs } = seen;
  const lastScheduledMs = latest([timeOf(cronJob.status?.lastScheduleTime), ...runs.map((run) => run.scheduledMs)]);
  const lastSuccessMs = latest([timeOf(cronJob.status?.lastSuccessfulTime), ...runs.map((run) => run.completedMs)]);
  const base = { lastScheduledMs, lastSuccessMs };
  const remove = oldRuns(seen);
  const events = endedRuns(seen);
  if (cronJob.spec?.suspend === true) return { ...base, remove, events, startMs: undefined, recheckMs: undefined };
  const due = dueRun(seen, lastScheduledMs);
  const start = startOf(seen, due);
  return {
    remove: [...remove, ...start.remove],
    events: [...events, ...start.events],
    startMs: start.startMs,
    lastScheduledMs: start.startMs ?? lastScheduledMs,
    lastSuccessMs,
    recheckMs: schedule.nextAfter(nowMs) - nowMs,
  };
}

/** The times before the deadline for a start do not count. */
function dueRun(
  { cronJob, schedule, nowMs }: SeenCronJob,
  lastScheduledMs: number | undefined,
): MissedRuns | undefined {
  const { startingDeadlineSeconds } = cronJob.spec ?? {};
  const createdMs = timeOf(cronJob.metadata.creationTimestamp) ?? nowMs;
  const deadlineMs = startingDeadlineSeconds === undefined ? 0 : nowMs - startingDeadlineSeconds * 1_000;
  return missedRuns(schedule, Math.max(lastScheduledMs ?? createdMs, deadlineMs), nowMs);
}

type Start = Pick<CronPlan, "startMs" | "remove" | "events">;

function startOf({ cronJob, runs }: SeenCronJob, due: MissedRuns | undefined): Start {
  if (due === undefined) return { startMs: undefined, remove: [], events: [] };
  const missed: CronEvent[] =
    due.count === "too many" ? [{ type: "Warning", reason: "TooManyMissedTimes", message: tooMany }] : [];
  const active = runs.filter(({ ended }) => ended === undefined).map(({ name }) => name);
  const { concurrencyPolicy } = cronJob.spec ?? {};
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const waiting = { type: "Normal", reason: "JobAlreadyActive", message: forbidden } as const;
    return { startMs: undefined, remove: [], events: [...missed, waiting] };
  }
  return { startMs: due.newestMs, remove: concurrencyPolicy === "Replace" ? active : [], events: missed };
}

/** Above the limits the oldest go first. */
function oldRuns({ cronJob, runs }: SeenCronJob): readonly string[] {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec ?? {};
  const limits = { Complete: successfulJobsHistoryLimit, Failed: failedJobsHistoryLimit };
  return (["Complete", "Failed"] as const).flatMap((ended) => {
    const found = runs.filter((run) => run.ended === ended).toSorted((a, b) => a.startedMs - b.startedMs);
    return found.slice(0, Math.max(0, found.length - limits[ended])).map(({ name }) => name);
  });
}

/** Those that the status still calls active. */
function endedRuns({ cronJob, runs }: SeenCronJob): readonly CronEvent[] {
  return (cronJob.status?.active ?? []).flatMap(({ name = "" }): readonly CronEvent[] => {
    const run = runs.find((each) => each.name === name);
    if (run === undefined)
      return [{ type: "Normal", reason: "MissingJob", message: `Active job went missing: ${name}` }];
    if (run.ended === undefined) return [];
    const message = `Saw completed job: ${name}, condition: ${run.ended}`;
    return [{ type: "Normal", reason: "SawCompletedJob", message }];
  });
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
