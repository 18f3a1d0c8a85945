/**
 * What a StatefulSet does next, as upstream's controller does (kubernetes-api.md 10.3): pods in ascending
 * order, each ready before the next; superfluous ones in descending order; then the rolling update, in
 * descending order. With `podManagementPolicy: Parallel` only the update keeps an order.
 */
import type { StatefulSet } from "@setpoint/api";
import type { Seen, SeenPod } from "./seen.ts";

/** One change, with the sentence of its Event where upstream has one. */
export type StatefulStep =
  | { readonly kind: "claim"; readonly ordinal: number }
  | { readonly kind: "create"; readonly ordinal: number; readonly revision: string }
  | { readonly kind: "delete"; readonly pod: SeenPod; readonly why: DeletionCause };

/** Why a pod is deleted. */
export type DeletionCause = "finished" | "superfluous" | "outdated";

/** The changes of one pass, and what it waits for. */
export interface StatefulPlan {
  readonly steps: readonly StatefulStep[];
  /** Set when a pod becomes available only by time. */
  readonly recheckMs?: number;
}

/** Pure: the same view always gives the same plan. */
export function planStatefulSet(seen: Seen): StatefulPlan {
  for (const rule of isOrdered(seen.set) ? orderedRules : parallelRules) {
    const plan = rule(seen);
    if (plan !== undefined) return withRecheck(seen, plan);
  }
  return withRecheck(seen, []);
}

type Rule = (seen: Seen) => readonly StatefulStep[] | undefined;

/** Read from top to bottom: the first rule with an answer decides; an empty answer waits. */
const orderedRules: readonly Rule[] = [restoreClaims, fillInOrder, shrinkInOrder, updateInOrder];
const parallelRules: readonly Rule[] = [restoreClaims, fillAndShrinkAtOnce, updateInOrder];

/** A pod that has not started would wait for ever for a claim that was deleted. */
function restoreClaims(seen: Seen): readonly StatefulStep[] | undefined {
  const steps = wantedPods(seen)
    .filter((pod) => pod.pending && !pod.terminating && seen.claims.missing.has(pod.ordinal))
    .map(({ ordinal }): StatefulStep => ({ kind: "claim", ordinal }));
  return steps.length === 0 ? undefined : steps;
}

/** The first ordinal that is not there and available decides. */
function fillInOrder(seen: Seen): readonly StatefulStep[] | undefined {
  for (const ordinal of seen.ordinals) {
    const pod = podAt(seen, ordinal);
    if (pod === undefined) return seen.claims.ending.has(ordinal) ? [] : [create(seen, ordinal)];
    if (pod.finished && !pod.terminating) return [remove(pod, "finished")];
    if (!isAvailable(pod)) return [];
  }
  return undefined;
}

/** The highest goes first, and only while no other is unhealthy. */
function shrinkInOrder(seen: Seen): readonly StatefulStep[] | undefined {
  const [highest] = superfluous(seen);
  if (highest === undefined) return undefined;
  const firstUnhealthy = seen.pods.find((pod) => !isHealthy(pod));
  if (highest.terminating) return [];
  if (!highest.ready && highest !== firstUnhealthy) return [];
  return [remove(highest, "superfluous")];
}

function fillAndShrinkAtOnce(seen: Seen): readonly StatefulStep[] | undefined {
  const steps = [
    ...seen.ordinals
      .filter((ordinal) => podAt(seen, ordinal) === undefined && !seen.claims.ending.has(ordinal))
      .map((ordinal) => create(seen, ordinal)),
    ...wantedPods(seen)
      .filter((pod) => pod.finished && !pod.terminating)
      .map((pod) => remove(pod, "finished")),
    ...superfluous(seen)
      .filter((pod) => !pod.terminating)
      .map((pod) => remove(pod, "superfluous")),
  ];
  return steps.length === 0 ? undefined : steps;
}

/**
 * From the highest down to the partition: an outdated pod is deleted, and the next one waits until it is
 * back.
 */
function updateInOrder(seen: Seen): readonly StatefulStep[] | undefined {
  const { updateStrategy } = seen.set.spec ?? {};
  if (updateStrategy?.type === "OnDelete") return undefined;
  const lowest = (seen.ordinals[0] ?? 0) + (updateStrategy?.rollingUpdate?.partition ?? 0);
  for (const pod of wantedPods(seen)
    .filter(({ ordinal }) => ordinal >= lowest)
    .toReversed()) {
    if (pod.revision !== seen.updateRevision && !pod.terminating) return [remove(pod, "outdated")];
    if (!isAvailable(pod)) return [];
  }
  return undefined;
}

function create(seen: Seen, ordinal: number): StatefulStep {
  return { kind: "create", ordinal, revision: runsCurrent(seen, ordinal) ? seen.currentRevision : seen.updateRevision };
}

/** Below the partition, and where a rollout has not come yet, a missing pod returns with its old template. */
function runsCurrent({ set, ordinals }: Seen, ordinal: number): boolean {
  const start = ordinals[0] ?? 0;
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition;
  const isRolling = set.spec?.updateStrategy?.type !== "OnDelete";
  return ordinal < start + (isRolling && partition !== undefined ? partition : (set.status?.currentReplicas ?? 0));
}

const remove = (pod: SeenPod, why: DeletionCause): StatefulStep => ({ kind: "delete", pod, why });
const isHealthy = (pod: SeenPod): boolean => pod.ready && !pod.terminating;
const isAvailable = (pod: SeenPod): boolean => isHealthy(pod) && pod.untilAvailableMs === 0;
const podAt = (seen: Seen, ordinal: number): SeenPod | undefined => seen.pods.find((pod) => pod.ordinal === ordinal);

/** Pods of ordinals that the set has, ascending. */
function wantedPods(seen: Seen): readonly SeenPod[] {
  return seen.pods.filter(({ ordinal }) => seen.ordinals.includes(ordinal));
}

/** Pods of other ordinals, the highest first. */
function superfluous(seen: Seen): readonly SeenPod[] {
  return seen.pods.filter(({ ordinal }) => !seen.ordinals.includes(ordinal)).toReversed();
}

function isOrdered({ spec }: StatefulSet): boolean {
  return spec?.podManagementPolicy !== "Parallel";
}

function withRecheck(seen: Seen, steps: readonly StatefulStep[]): StatefulPlan {
  const recheckMs = Math.min(...seen.pods.map((pod) => pod.untilAvailableMs).filter((ms) => ms > 0));
  return Number.isFinite(recheckMs) ? { steps, recheckMs } : { steps };
}
