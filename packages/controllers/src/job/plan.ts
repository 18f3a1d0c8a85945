/** What a Job does next, as upstream's controller does (kubernetes-api.md 10.5). */
import { countPods, type Counted } from "./count.ts";
import { endOf, type JobEnd, metEnd, msUntilDeadline } from "./end.ts";
import { isIndexed, type SeenJob, type SeenJobPod } from "./seen.ts";

/** A pod to create. */
export interface NewPod {
  readonly index?: number;
  readonly failuresBefore?: number;
}

export interface JobPlan {
  readonly counted: Counted;
  readonly end: JobEnd | undefined;
  /** Whether all pods have ended and are counted: the Job gets its last condition. */
  readonly isFinished: boolean;
  readonly create: readonly NewPod[];
  /** Deleted without being counted: the Job is suspended, or has more pods than it may. */
  readonly drop: readonly SeenJobPod[];
  /** Deleted because the Job has met its end. */
  readonly stop: readonly SeenJobPod[];
  /** Set when something is due only by time. */
  readonly recheckMs: number | undefined;
}

/** Pods created in one pass; the next one follows at once. */
const createMax = 500;
const backOffMsFirst = 10_000;
const backOffMsMax = 600_000;

/** Pure: the same view always gives the same plan. */
export function planJob(seen: SeenJob): JobPlan {
  const before = countPods(seen, metEnd(seen)?.outcome);
  const end = endOf(seen, before);
  const counted = end === undefined ? before : countPods(seen, end.outcome);
  const active = seen.pods.filter(isActive);
  const nothing = { create: [], drop: [], stop: [], recheckMs: undefined };
  if (seen.job.metadata.deletionTimestamp !== undefined)
    return { ...nothing, counted, end: undefined, isFinished: false };
  if (end !== undefined) {
    const isFinished =
      counted.isComplete && seen.pods.every(({ outcome, terminating }) => outcome !== undefined && !terminating);
    return { ...nothing, counted, end, stop: active, isFinished };
  }
  const changes = seen.job.spec?.suspend === true ? { ...nothing, drop: active } : planActive(seen, counted, active);
  const dues = [changes.recheckMs, msUntilDeadline(seen)].filter((ms) => ms !== undefined);
  const recheckMs = dues.length === 0 ? undefined : Math.min(...dues);
  return { ...nothing, ...changes, recheckMs, counted, end, isFinished: false };
}

/** Neither ended nor on its way out. */
export function isActive({ outcome, terminating }: SeenJobPod): boolean {
  return outcome === undefined && !terminating;
}

type Changes = Pick<JobPlan, "create" | "drop" | "recheckMs">;

function planActive(seen: SeenJob, counted: Counted, active: readonly SeenJobPod[]): Changes {
  const wanted = wantedActive(seen, counted, active.length);
  const drop = superfluous(seen, active, wanted);
  const terminating = seen.pods.filter((pod) => pod.outcome === undefined && pod.terminating).length;
  const replaced = seen.job.spec?.podReplacementPolicy === "Failed" ? terminating : 0;
  const missing = Math.min(wanted - replaced - (active.length - drop.length), createMax);
  if (drop.length > 0 || missing <= 0) return { create: [], drop, recheckMs: undefined };
  if (seen.job.spec?.backoffLimitPerIndex !== undefined) return { ...planIndexes(seen, counted, missing), drop };
  const waitMs = backOffMs(seen.pods, seen.nowMs);
  if (waitMs > 0) return { create: [], drop, recheckMs: waitMs };
  if (!isIndexed(seen.job)) return { create: Array.from({ length: missing }, () => ({})), drop, recheckMs: undefined };
  return {
    create: freeIndexes(seen, counted)
      .slice(0, missing)
      .map((index) => ({ index })),
    drop,
    recheckMs: undefined,
  };
}

/** Without a number of completions the first success ends the work: no further pod starts. */
function wantedActive({ job }: SeenJob, { succeeded, failedIndexes }: Counted, active: number): number {
  const { parallelism = 1, completions } = job.spec ?? {};
  if (completions === undefined) return succeeded > 0 ? active : parallelism;
  return Math.max(0, Math.min(completions - succeeded - failedIndexes.size, parallelism));
}

/** Pods of an index that another pod has, or that is out of range, go first; then those that do least. */
function superfluous(seen: SeenJob, active: readonly SeenJobPod[], wanted: number): readonly SeenJobPod[] {
  const taken = new Set<number>();
  const wrong = !isIndexed(seen.job)
    ? []
    : active.filter(({ index }) => {
        const isWrong = index === undefined || index >= (seen.job.spec?.completions ?? 0) || taken.has(index);
        if (index !== undefined) taken.add(index);
        return isWrong;
      });
  const others = active
    .filter((pod) => !wrong.includes(pod))
    .toSorted((a, b) => Number(a.ready) - Number(b.ready) || (b.index ?? 0) - (a.index ?? 0));
  return [...wrong, ...others.slice(0, Math.max(0, others.length - wanted))];
}

/** Indexes that have neither ended nor a pod, in ascending order. */
function freeIndexes(seen: SeenJob, { succeededIndexes, failedIndexes }: Counted): readonly number[] {
  const isReplacedLate = seen.job.spec?.podReplacementPolicy === "Failed";
  const busy = seen.pods.filter((pod) => isActive(pod) || (isReplacedLate && pod.outcome === undefined));
  const taken = new Set([...busy.map(({ index }) => index), ...succeededIndexes, ...failedIndexes]);
  return Array.from({ length: seen.job.spec?.completions ?? 0 }, (_, i) => i).filter((index) => !taken.has(index));
}

/** Each index waits by its own failures. */
function planIndexes(seen: SeenJob, counted: Counted, missing: number): Pick<Changes, "create" | "recheckMs"> {
  const create: NewPod[] = [];
  const waits: number[] = [];
  for (const index of freeIndexes(seen, counted)) {
    const failures = seen.pods.filter((pod) => pod.index === index && pod.outcome === "failed");
    const waitMs = backOffMs(failures, seen.nowMs);
    if (waitMs > 0) waits.push(waitMs);
    else if (create.length < missing) create.push({ index, failuresBefore: failuresOf(failures) });
  }
  return { create, recheckMs: waits.length === 0 ? undefined : Math.min(...waits) };
}

/** Of the newest pod of the index, and itself, when it counts. */
function failuresOf(failures: readonly SeenJobPod[]): number {
  const counts = failures.map((pod) => pod.failuresBefore + (pod.verdict?.action === "Ignore" ? 0 : 1));
  return Math.max(0, ...counts);
}

/**
 * How long until the next pod may start: 10 s after a first failure, twice as long after each further one.
 */
function backOffMs(pods: readonly SeenJobPod[], nowMs: number): number {
  const ended = pods
    .filter(({ outcome, dropped }) => outcome !== undefined && !dropped)
    .toSorted((a, b) => b.endedMs - a.endedMs);
  const lastSuccess = ended.findIndex(({ outcome }) => outcome === "succeeded");
  const failures = lastSuccess === -1 ? ended.length : lastSuccess;
  const [newest] = ended;
  if (failures === 0 || newest === undefined) return 0;
  const delayMs = Math.min(backOffMsFirst * 2 ** (failures - 1), backOffMsMax);
  return Math.max(0, newest.endedMs + delayMs - nowMs);
}
