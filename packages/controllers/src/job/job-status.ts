/** The status of a Job: its counters, and conditions with upstream's reasons and words. */
import type { Job, JobCondition, JobStatus } from "@setpoint/api";
import type { JobEnd } from "./end.ts";
import { type JobPlan, isActive } from "./plan.ts";
import type { SeenJob } from "./seen.ts";

/** An Event that goes with a change of the status. */
export interface StatusEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

/** Before pods are created; `created` and `deleted` correct what the pass has done. */
export function jobStatus(seen: SeenJob, plan: JobPlan, created: number): JobStatus {
  const { job, pods, nowMs } = seen;
  const now = timeOf(nowMs);
  const removed = new Set([...plan.drop, ...plan.stop].map(({ uid }) => uid));
  const active = pods.filter((pod) => isActive(pod) && !removed.has(pod.uid));
  const terminating = pods.filter(({ terminating: is }) => is).length + removed.size;
  const startTime = startOf(job, now);
  const isComplete = plan.isFinished && plan.end?.outcome === "succeeded";
  return {
    ...plan.counted.status,
    active: active.length + created,
    ready: active.filter(({ ready }) => ready).length,
    terminating,
    ...(startTime === undefined ? {} : { startTime }),
    ...(isComplete ? { completionTime: now } : {}),
    conditions: conditionsOf(seen, plan, now),
  };
}

function timeOf(ms: number): string {
  return new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}

/** A suspended Job has none; one that is resumed starts again, and its deadline with it. */
function startOf(job: Job, now: string): string | undefined {
  if (job.spec?.suspend === true) return undefined;
  return job.status?.startTime ?? now;
}

function conditionsOf(seen: SeenJob, { end, isFinished }: JobPlan, now: string): readonly JobCondition[] {
  const wanted = [...suspension(seen.job), ...(end === undefined ? [] : endConditions(end, isFinished))];
  const present = seen.job.status?.conditions ?? [];
  const kept = present.filter(({ type }) => !wanted.some((each) => each.type === type));
  const changed = wanted.map((condition) => {
    const before = present.find((each) => each.type === condition.type);
    return before?.status === condition.status ? before : { ...condition, lastProbeTime: now, lastTransitionTime: now };
  });
  return [...kept, ...changed];
}

type NewCondition = Pick<JobCondition, "type" | "status" | "reason" | "message">;

function suspension({ spec, status }: Job): readonly NewCondition[] {
  if (spec?.suspend === true)
    return [{ type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" }];
  const wasSuspended = status?.conditions?.some(({ type }) => type === "Suspended") === true;
  return wasSuspended ? [{ type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" }] : [];
}

function endConditions({ outcome, reason, message }: JobEnd, isFinished: boolean): readonly NewCondition[] {
  const [first, last] = outcome === "succeeded" ? ["SuccessCriteriaMet", "Complete"] : ["FailureTarget", "Failed"];
  const condition = { status: "True", reason, message };
  return [{ type: first, ...condition }, ...(isFinished ? [{ type: last, ...condition }] : [])];
}

/** Once each, because the status that was there has not yet the condition. */
export function statusEvents({ job }: SeenJob, { end, isFinished }: JobPlan): readonly StatusEvent[] {
  const isSuspended = job.status?.conditions?.find(({ type }) => type === "Suspended")?.status === "True";
  if (isFinished && end?.outcome === "succeeded")
    return [{ type: "Normal", reason: "Completed", message: "Job completed" }];
  if (isFinished && end !== undefined) return [{ type: "Warning", reason: end.reason, message: end.message }];
  if (end !== undefined) return [];
  if (job.spec?.suspend === true && !isSuspended)
    return [{ type: "Normal", reason: "Suspended", message: "Job suspended" }];
  if (job.spec?.suspend !== true && isSuspended) return [{ type: "Normal", reason: "Resumed", message: "Job resumed" }];
  return [];
}

/** Whether it has its last condition; nothing of it changes any more. */
export function finishedAt({ status }: Job): string | undefined {
  const last = status?.conditions?.find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
  return last && (last.lastTransitionTime ?? "");
}
