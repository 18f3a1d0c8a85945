/** What a PodDisruptionBudget allows now; pure. */
import type { Pod, PodDisruptionBudget, PodDisruptionBudgetStatus } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { resolvePercent } from "../deployment/rolling-update.ts";
import { isReady } from "../pod-state.ts";
import type { ExpectedPods } from "./expected-pods.ts";

/** An evicted pod that is not being deleted after this time stays, and counts again. */
const deletionMsMax = 120_000;

/** One pass's view of a budget. */
export interface SeenBudget {
  readonly budget: Stored<PodDisruptionBudget>;
  /** All that its selector matches. */
  readonly pods: readonly Stored<Pod>[];
  /** By the scale of their controllers. */
  readonly expected: ExpectedPods;
  readonly nowMs: number;
}

export interface BudgetPlan {
  readonly status: Required<Omit<PodDisruptionBudgetStatus, "conditions" | "observedGeneration">>;
  /** Evicted pods that were not deleted in time. */
  readonly kept: readonly Stored<Pod>[];
  /** Until the next of the evicted pods should have been deleted. */
  readonly recheckMs: number | undefined;
}

/** A number of `minAvailable` asks nothing of the controllers: then the pods that are there are expected. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === "string";
}

export function planBudget(seen: SeenBudget): BudgetPlan {
  const { budget, pods } = seen;
  const expectedPods = needsScale(budget) ? seen.expected.count : expectedByNumber(seen);
  const desiredHealthy = desiredOf(budget, expectedPods);
  const evicted = pods.flatMap((pod) => evictedSince(pod, seen));
  const disrupted = evicted.filter(({ untilMs }) => untilMs >= 0);
  const disruptedPods = Object.fromEntries(disrupted.map(({ pod, since }) => [pod.metadata.name, since]));
  const currentHealthy = pods.filter(
    (pod) =>
      pod.metadata.deletionTimestamp === undefined && !Object.hasOwn(disruptedPods, pod.metadata.name) && isReady(pod),
  ).length;
  // Nothing expected: the first pods of the budget may be there before this controller has counted them.
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  return {
    status: { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed, disruptedPods },
    kept: evicted.filter(({ untilMs }) => untilMs < 0).map(({ pod }) => pod),
    recheckMs: disrupted.length === 0 ? undefined : Math.min(...disrupted.map(({ untilMs }) => untilMs)) + 1,
  };
}

function expectedByNumber({ budget, pods }: SeenBudget): number {
  return budget.spec.minAvailable === undefined ? 0 : pods.length;
}

function desiredOf({ spec: { maxUnavailable, minAvailable } }: PodDisruptionBudget, expected: number): number {
  if (maxUnavailable !== undefined) return Math.max(0, expected - resolvePercent(maxUnavailable, expected, "up"));
  return minAvailable === undefined ? 0 : resolvePercent(minAvailable, expected, "up");
}

interface Evicted {
  readonly pod: Stored<Pod>;
  readonly since: string;
  readonly untilMs: number;
}

/** An entry ends with the pod, and when its deletion is seen. */
function evictedSince(pod: Stored<Pod>, { budget, nowMs }: SeenBudget): readonly Evicted[] {
  const present = budget.status?.disruptedPods ?? {};
  const { name, deletionTimestamp } = pod.metadata;
  const since = Object.hasOwn(present, name) ? present[name] : undefined;
  if (since === undefined || deletionTimestamp !== undefined) return [];
  return [{ pod, since, untilMs: Date.parse(since) + deletionMsMax - nowMs }];
}
