/**
 * The counters of a Job. A pod that has ended is first noted by UID (`uncountedTerminatedPods`) and loses its
 * finalizer; when that is seen, the note becomes a count. So no pod is counted twice or never, wherever the
 * controller stops in between (KEP-2307). Succeeded indexes need no note: a set does not count twice.
 */
import type { JobStatus } from "@setpoint/api";
import { formatIndexes, parseIndexes } from "./indexes.ts";
import { isIndexed, type SeenJob, type SeenJobPod } from "./seen.ts";

export interface Counted {
  /** Pods that have failed and count, noted ones included. */
  readonly failed: number;
  /** Pods that have succeeded, or indexes. */
  readonly succeeded: number;
  readonly succeededIndexes: ReadonlySet<number>;
  /** Indexes that get no pod any more. */
  readonly failedIndexes: ReadonlySet<number>;
  /** These fields of the status. */
  readonly status: Pick<
    JobStatus,
    "succeeded" | "failed" | "completedIndexes" | "failedIndexes" | "uncountedTerminatedPods"
  >;
  /** Lose their finalizer when the status is written. */
  readonly released: readonly SeenJobPod[];
  /** Whether no note is left. */
  readonly isComplete: boolean;
}

/** `ending`: the Job has met its end, or is deleted; no pod is waited for. */
export function countPods(seen: SeenJob, ending: "failed" | "succeeded" | undefined): Counted {
  const { job, pods } = seen;
  const { succeeded = 0, failed = 0, uncountedTerminatedPods: before = {} } = job.status ?? {};
  const tracked = pods.filter((pod) => pod.tracked);
  const held = new Set(tracked.map(({ uid }) => uid));
  const isNoted = (uid: string): boolean => held.has(uid);
  const noted = { succeeded: before.succeeded ?? [], failed: before.failed ?? [] };
  const indexes = succeededIndexes(seen);
  const failedIndexes = failedIndexesOf(seen, indexes);
  const delayed = ending === undefined ? newestFailures(seen, failedIndexes) : new Set<string>();
  const released = tracked.filter(
    (pod) => !delayed.has(pod.uid) && isOver(pod, ending, job.metadata.deletionTimestamp),
  );
  const newFailures = released.filter((pod) => failureCounts(seen, pod, ending)).map(({ uid }) => uid);
  const newSuccesses = isIndexed(job)
    ? []
    : released.filter(({ outcome }) => outcome === "succeeded").map(({ uid }) => uid);
  const notes = {
    succeeded: union(noted.succeeded.filter(isNoted), newSuccesses),
    failed: union(noted.failed.filter(isNoted), newFailures),
  };
  const counted = {
    succeeded: isIndexed(job) ? indexes.size : succeeded + noted.succeeded.filter((uid) => !isNoted(uid)).length,
    failed: failed + noted.failed.filter((uid) => !isNoted(uid)).length,
  };
  return {
    failed: counted.failed + notes.failed.length,
    succeeded: counted.succeeded + notes.succeeded.length,
    succeededIndexes: indexes,
    failedIndexes,
    released,
    isComplete: notes.failed.length + notes.succeeded.length === 0 && released.length === 0,
    status: {
      ...counted,
      ...(indexes.size === 0 ? {} : { completedIndexes: formatIndexes(indexes) }),
      ...(job.spec?.backoffLimitPerIndex === undefined ? {} : { failedIndexes: formatIndexes(failedIndexes) }),
      uncountedTerminatedPods: {
        ...(notes.succeeded.length === 0 ? {} : { succeeded: notes.succeeded }),
        ...(notes.failed.length === 0 ? {} : { failed: notes.failed }),
      },
    },
  };
}

function union(first: readonly string[], second: readonly string[]): readonly string[] {
  return [...new Set([...first, ...second])];
}

function isOver(pod: SeenJobPod, ending: "failed" | "succeeded" | undefined, deleted: string | undefined): boolean {
  return pod.outcome !== undefined || ending !== undefined || deleted !== undefined;
}

/** A pod that still ran when its Job failed has failed with it; one that success made superfluous has not. */
function failureCounts(seen: SeenJob, pod: SeenJobPod, ending: "failed" | "succeeded" | undefined): boolean {
  if (pod.outcome === "succeeded") return false;
  if (pod.outcome === undefined && ending !== "failed") return false;
  if (pod.terminating && ending === "succeeded") return false;
  const isInRange = !isIndexed(seen.job) || inRange(seen, pod.index);
  return isInRange && pod.verdict?.action !== "Ignore";
}

function inRange({ job }: SeenJob, index: number | undefined): boolean {
  return index !== undefined && index < (job.spec?.completions ?? 0);
}

function succeededIndexes(seen: SeenJob): ReadonlySet<number> {
  if (!isIndexed(seen.job)) return new Set();
  const indexes = new Set([...parseIndexes(seen.job.status?.completedIndexes)].filter((each) => inRange(seen, each)));
  for (const { outcome, index } of seen.pods)
    if (outcome === "succeeded" && index !== undefined && inRange(seen, index)) indexes.add(index);
  return indexes;
}

/** With a limit for each index: those that have failed more often, or by a rule. */
function failedIndexesOf(seen: SeenJob, succeeded: ReadonlySet<number>): ReadonlySet<number> {
  const { backoffLimitPerIndex } = seen.job.spec ?? {};
  if (backoffLimitPerIndex === undefined) return new Set();
  const indexes = new Set(parseIndexes(seen.job.status?.failedIndexes));
  for (const { outcome, index, verdict, failuresBefore } of seen.pods) {
    if (outcome !== "failed" || index === undefined || !inRange(seen, index) || succeeded.has(index)) continue;
    const isAtLimit = verdict?.action !== "Ignore" && failuresBefore >= backoffLimitPerIndex;
    if (verdict?.action === "FailIndex" || isAtLimit) indexes.add(index);
  }
  return indexes;
}

/**
 * The next pod of such an index takes its number of failures from the newest failed one, which stays until
 * then.
 */
function newestFailures(seen: SeenJob, failedIndexes: ReadonlySet<number>): ReadonlySet<string> {
  if (seen.job.spec?.backoffLimitPerIndex === undefined) return new Set();
  const newest = new Map<number, SeenJobPod>();
  for (const pod of seen.pods) {
    const { index, outcome } = pod;
    if (index === undefined || failedIndexes.has(index)) continue;
    const other = newest.get(index);
    if (other === undefined || rank(pod) > rank(other)) newest.set(index, pod);
    if (outcome === undefined) newest.set(index, pod);
  }
  return new Set([...newest.values()].filter(({ outcome }) => outcome === "failed").map(({ uid }) => uid));
}

function rank({ failuresBefore, endedMs }: SeenJobPod): number {
  return failuresBefore * 1e14 + endedMs;
}
