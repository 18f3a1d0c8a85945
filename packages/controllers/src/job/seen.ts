/** A Job and its pods, as one pass sees them. */
import type { Job, Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { isFinished, isReady } from "../pod-state.ts";
import { judgeFailure, type FailureVerdict } from "./failure-policy.ts";
import { failuresBefore, indexOf, isTracked } from "./job-pod.ts";

export interface SeenJobPod {
  readonly name: string;
  readonly uid: string;
  /** Of an Indexed Job. */
  readonly index: number | undefined;
  readonly outcome: "succeeded" | "failed" | undefined;
  /** Being deleted, with containers that may still run. */
  readonly terminating: boolean;
  readonly ready: boolean;
  /** Whether its finalizer is there: the Job has not finished to count it. */
  readonly tracked: boolean;
  /** Deleted by the Job itself, which is no failure: no longer tracked, or counted before. */
  readonly dropped: boolean;
  /** When it ended, or, of one that failed by being deleted, when that began; milliseconds. */
  readonly endedMs: number;
  /** What its failure means; undefined when it has not failed. */
  readonly verdict: FailureVerdict | undefined;
  readonly failuresBefore: number;
  readonly restarts: number;
}

export interface SeenJob {
  readonly job: Stored<Job>;
  readonly pods: readonly SeenJobPod[];
  readonly nowMs: number;
}

export function seeJob(job: Stored<Job>, pods: readonly Stored<Pod>[], nowMs: number): SeenJob {
  return { job, nowMs, pods: pods.map((pod) => seePod(job, pod)) };
}

export function isIndexed(job: Job): boolean {
  return job.spec?.completionMode === "Indexed";
}

/** A pod that is being deleted has failed, unless the Job replaces pods only when they have ended. */
function seePod(job: Stored<Job>, pod: Stored<Pod>): SeenJobPod {
  const terminating = pod.metadata.deletionTimestamp !== undefined && !isFinished(pod);
  const phase = pod.status?.phase;
  const isGivenUp = terminating && job.spec?.podReplacementPolicy !== "Failed";
  const failed = phase === "Failed" || (isGivenUp && phase !== "Succeeded");
  const { name, uid } = pod.metadata;
  return {
    ...{ name, uid, terminating, ready: isReady(pod), tracked: isTracked(pod), failuresBefore: failuresBefore(pod) },
    dropped: pod.metadata.deletionTimestamp !== undefined && !isTracked(pod),
    index: isIndexed(job) ? indexOf(pod) : undefined,
    outcome: phase === "Succeeded" ? "succeeded" : failed ? "failed" : undefined,
    endedMs: endedMs(pod),
    verdict: failed ? judgeFailure(job, pod) : undefined,
    restarts: restartsOf(pod),
  };
}

function endedMs(pod: Pod): number {
  const ends = (pod.status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated?.finishedAt ?? []);
  const known = ends.map((text) => Date.parse(text)).filter((ms) => !Number.isNaN(ms));
  if (known.length > 0) return Math.max(...known);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = pod.metadata;
  if (deletionTimestamp === undefined) return Date.parse(creationTimestamp ?? "") || 0;
  // The timestamp is the end of the grace period.
  return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;
}

function restartsOf({ status }: Pod): number {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers.reduce((sum, { restartCount }) => sum + restartCount, 0);
}
