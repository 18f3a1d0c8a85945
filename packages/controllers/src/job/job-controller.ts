import { Job, Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { randomSuffix } from "@setpoint/host";
import {
  anyOf,
  controller,
  generationChanged,
  outcome,
  requeueAfter,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { claimChildren, watchingOrphans } from "../claim-children.ts";
import { isFinished } from "../pod-state.ts";
import { jobPod, trackingFinalizer } from "./job-pod.ts";
import { finishedAt, jobStatus, statusEvents } from "./job-status.ts";
import { type JobPlan, planJob } from "./plan.ts";
import { seeJob, type SeenJob, type SeenJobPod } from "./seen.ts";

const ownName = "kubernetes.io/job-controller";
/** How long a refused creation waits for its next try. */
const retryMs = 5_000;
const deletion = "the Job is deleted when its time after the end is over";

/** Runs pods until enough of them have succeeded, or too many have failed. */
export const jobs: ControllerDefinition = controller(Job, {
  name: "job",
  eventSource: "job-controller",
  owns: [Pod],
  watches: [watchingOrphans(Pod, Job)],
  reconcileDeleting: true,
  // Another controller may end the Job: its time after the end begins then.
  predicate: anyOf(generationChanged(), (old: Stored<Job>, next: Stored<Job>) => finishedAt(old) !== finishedAt(next)),
  async reconcile(job, context) {
    const finished = finishedAt(job);
    const isOwn = (job.spec?.managedBy ?? ownName) === ownName;
    // The time after the end is not part of what another controller manages.
    if (!isOwn) return finished === undefined ? undefined : afterEnd(job, finished, [], context);
    const pods = await podsOf(job, context);
    if (finished !== undefined) return afterEnd(job, finished, pods, context);
    return runJob(seeJob(job, pods, context.host.clock.now()), pods, context);
  },
});

function podsOf(job: Stored<Job>, context: ReconcileContext): Promise<readonly Stored<Pod>[]> | readonly Stored<Pod>[] {
  if (job.metadata.deletionTimestamp !== undefined) return context.children.list(Pod);
  const claimer = { kind: Job, object: job, selector: job.spec?.selector, finalizer: trackingFinalizer };
  // One that has ended may be counted already: adopted, it would be counted again.
  return claimChildren(Pod, claimer, context, (pod) => !isFinished(pod));
}

/**
 * Deletes before it writes the status, and creates and releases pods after it: the status counts them first.
 */
async function runJob(
  seen: SeenJob,
  pods: readonly Stored<Pod>[],
  context: ReconcileContext,
): Promise<Result | undefined> {
  const plan = planJob(seen);
  const find = ({ uid }: SeenJobPod): Stored<Pod> | undefined => pods.find(({ metadata }) => metadata.uid === uid);
  await deletePods(plan, find, context);
  const refusal = await createPods(seen, plan, context);
  await context.status(jobStatus(seen, plan, refusal.created));
  for (const { type, reason, message } of statusEvents(seen, plan)) context.event(type, reason, message);
  for (const pod of plan.counted.released.flatMap((each) => find(each) ?? [])) await release(pod, context);
  const { ttlSecondsAfterFinished: ttlSeconds } = seen.job.spec ?? {};
  if (plan.isFinished && ttlSeconds !== undefined) return requeueAfter(ttlSeconds * 1_000, deletion);
  if (refusal.why !== undefined) return requeueAfter(retryMs, refusal.why);
  return plan.recheckMs === undefined
    ? undefined
    : requeueAfter(plan.recheckMs, "the back-off or the deadline of the Job");
}

async function deletePods(
  { drop, stop }: JobPlan,
  find: (pod: SeenJobPod) => Stored<Pod> | undefined,
  context: ReconcileContext,
): Promise<void> {
  // Without its finalizer first: a pod that the Job itself gives up is no failure.
  for (const pod of drop.flatMap((each) => find(each) ?? [])) await remove(await release(pod, context), context);
  for (const pod of stop.flatMap((each) => find(each) ?? [])) await remove(pod, context);
}

async function remove(pod: Stored<Pod>, context: ReconcileContext): Promise<void> {
  await context.delete(pod);
  context.event("Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
}

interface Creation {
  readonly created: number;
  /** Why not all were created. */
  readonly why?: string;
}

async function createPods({ job }: SeenJob, plan: JobPlan, context: ReconcileContext): Promise<Creation> {
  let created = 0;
  for (const purpose of plan.create) {
    const pod = jobPod(job, { ...purpose, suffix: randomSuffix(context.host.random, 5) });
    const result = await outcome(context.create(pod));
    if (result.kind !== "done") {
      context.event("Warning", "FailedCreate", `Error creating: ${result.error.message}`);
      return { created, why: result.error.message };
    }
    created++;
    context.event("Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`);
  }
  return { created };
}

/** The pod may go now: it is counted. */
async function release(pod: Stored<Pod>, context: ReconcileContext): Promise<Stored<Pod>> {
  const { finalizers = [] } = pod.metadata;
  if (!finalizers.includes(trackingFinalizer)) return pod;
  const others = finalizers.filter((each) => each !== trackingFinalizer);
  return context.patch(pod, { metadata: { finalizers: others } }, { unchanged: true });
}

/** Releases what is left, and deletes the Job when its time after the end is over. */
async function afterEnd(
  job: Stored<Job>,
  finished: string,
  pods: readonly Stored<Pod>[],
  context: ReconcileContext,
): Promise<Result | undefined> {
  for (const pod of pods) await release(pod, context);
  const { ttlSecondsAfterFinished: ttlSeconds } = job.spec ?? {};
  if (ttlSeconds === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
  const leftMs = Date.parse(finished) + ttlSeconds * 1_000 - context.host.clock.now();
  if (leftMs > 0) return requeueAfter(leftMs, deletion);
  await context.delete(job, { unchanged: true, propagation: "Foreground" });
  return undefined;
}
