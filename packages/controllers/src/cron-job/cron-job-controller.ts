import { CronJob, Job, type ObjectReference } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { messageOf } from "@setpoint/apimachinery";
import {
  controller,
  CronSchedule,
  outcome,
  requeueAfter,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { zonedTimestamp } from "./zoned-timestamp.ts";
import { type CronPlan, planCronJob, type SeenCronJob, type SeenRun } from "./plan.ts";
import type { Schedule } from "./missed-runs.ts";

const scheduledKey = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/** How long a refused creation waits for its next try. */
const retryMs = 5_000;

/** Makes a Job at each time of a schedule. */
export const cronJobs: ControllerDefinition = controller(CronJob, {
  name: "cronjob",
  eventSource: "cronjob-controller",
  owns: [Job],
  async reconcile(cronJob, context) {
    const schedule = scheduleOf(cronJob, context);
    if (schedule === undefined) return undefined;
    const jobs = context.children.list(Job);
    return run({ cronJob, schedule, runs: jobs.map(seeRun), nowMs: context.host.clock.now() }, jobs, context);
  },
});

/** The server accepts some lines that cannot be read, as upstream's does: an Event says so. */
function scheduleOf({ spec }: CronJob, context: ReconcileContext): Schedule | undefined {
  try {
    return new CronSchedule(spec?.schedule ?? "", spec?.timeZone === undefined ? {} : { timeZone: spec.timeZone });
  } catch (error) {
    context.event("Warning", "UnparseableSchedule", `unparseable schedule: ${messageOf(error)}`);
    return undefined;
  }
}

function seeRun({ metadata, status }: Stored<Job>): SeenRun {
  const last = status?.conditions?.find(
    ({ type, status: is }) => ["Complete", "Failed"].includes(type) && is === "True",
  );
  const scheduled = metadata.annotations?.[scheduledKey];
  const { completionTime } = status ?? {};
  return {
    name: metadata.name,
    ended: last?.type as SeenRun["ended"],
    startedMs: Date.parse(status?.startTime ?? metadata.creationTimestamp ?? ""),
    completedMs: last?.type === "Complete" && completionTime !== undefined ? Date.parse(completionTime) : undefined,
    scheduledMs: scheduled === undefined ? undefined : Date.parse(scheduled),
  };
}

async function run(
  seen: SeenCronJob,
  jobs: readonly Stored<Job>[],
  context: ReconcileContext,
): Promise<Result | undefined> {
  const plan = planCronJob(seen);
  for (const { type, reason, message } of plan.events) context.event(type, reason, message);
  for (const job of jobs.filter(({ metadata }) => plan.remove.includes(metadata.name))) {
    await context.delete(job, { propagation: "Background" });
    context.event("Normal", "SuccessfulDelete", `Deleted job ${job.metadata.name}`);
  }
  const started = plan.startMs === undefined ? undefined : await start(seen.cronJob, plan.startMs, context);
  if (typeof started === "string") return requeueAfter(retryMs, started);
  await context.status(statusOf(seen, jobs, plan, started));
  return plan.recheckMs === undefined ? undefined : requeueAfter(plan.recheckMs, "the next time of the schedule");
}

/**
 * The name follows from the time: a second start for it finds the Job that is there. Text: why there is none.
 */
async function start(
  cronJob: Stored<CronJob>,
  scheduledMs: number,
  context: ReconcileContext,
): Promise<Stored<Job> | string> {
  const { metadata = {}, spec } = cronJob.spec?.jobTemplate ?? {};
  if (spec === undefined) throw new Error(`CronJob "${cronJob.metadata.name}" has a template without a spec`);
  const annotations = { ...metadata.annotations, [scheduledKey]: zonedTimestamp(scheduledMs, cronJob.spec?.timeZone) };
  const name = `${cronJob.metadata.name}-${Math.floor(scheduledMs / 60_000)}`;
  const job = Job({
    name,
    namespace: cronJob.metadata.namespace ?? "",
    labels: metadata.labels ?? {},
    annotations,
    spec,
  });
  const result = await outcome(context.create(job));
  if (result.kind !== "done") {
    context.event("Warning", "FailedCreate", `Error creating job: ${result.error.message}`);
    return result.error.message;
  }
  context.event("Normal", "SuccessfulCreate", `Created job ${name}`);
  return result.object;
}

function statusOf(
  { cronJob, runs }: SeenCronJob,
  jobs: readonly Stored<Job>[],
  { remove, lastScheduledMs, lastSuccessMs }: CronPlan,
  started: Stored<Job> | undefined,
): NonNullable<CronJob["status"]> {
  const running = new Set(
    runs.filter(({ ended, name }) => ended === undefined && !remove.includes(name)).map(({ name }) => name),
  );
  const active = [
    ...jobs.filter(({ metadata }) => running.has(metadata.name)),
    ...(started === undefined ? [] : [started]),
  ];
  // With the revision that they had first: a new one each time would be a write for each change of a Job.
  const known = new Map(cronJob.status?.active?.map((each) => [each.uid, each]));
  return {
    ...(active.length === 0 ? {} : { active: active.map((job) => known.get(job.metadata.uid) ?? referenceOf(job)) }),
    ...(lastScheduledMs === undefined ? {} : { lastScheduleTime: zonedTimestamp(lastScheduledMs) }),
    ...(lastSuccessMs === undefined ? {} : { lastSuccessfulTime: zonedTimestamp(lastSuccessMs) }),
  };
}

function referenceOf({ metadata: { name, namespace = "", uid, resourceVersion } }: Stored<Job>): ObjectReference {
  return { apiVersion: "batch/v1", kind: "Job", name, namespace, uid, resourceVersion };
}
