/** Which pods of lower priority end so that a pod of higher priority can run; pure. */
import type { Pod, PodDisruptionBudget } from "@setpoint/api";
import { matchesLabelSelector } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { withPods, type ClusterView, type Place } from "./cluster-view.ts";
import { judge, unavailable } from "./judge.ts";

/** The pods that end at a place, or in upstream's words why that does not help. */
export type PreemptionPlan =
  | { readonly kind: "preempt"; readonly node: string; readonly victims: readonly Stored<Pod>[] }
  | { readonly kind: "none"; readonly why: string };

interface Candidate {
  readonly node: string;
  /** The most important first. */
  readonly victims: readonly Stored<Pod>[];
  readonly violations: number;
}

export const priorityOf = ({ spec }: Pod): number => spec?.priority ?? 0;

/** The place where the least important pods end, for a pod that fits nowhere. */
export function planPreemption(
  pod: Stored<Pod>,
  cluster: ClusterView,
  budgets: readonly PodDisruptionBudget[],
): PreemptionPlan {
  const refused = ineligible(pod, cluster);
  if (refused !== undefined) return { kind: "none", why: refused };
  const found = cluster.places.map((place) => victimsAt(pod, place, cluster, budgets));
  const candidates = found.filter((each) => typeof each !== "string");
  const [best] = candidates.toSorted(byHarm);
  if (best !== undefined) return { kind: "preempt", node: best.node, victims: best.victims };
  return {
    kind: "none",
    why: unavailable(
      found.length,
      found.filter((each) => typeof each === "string"),
    ),
  };
}

function ineligible(pod: Stored<Pod>, { places }: ClusterView): string | undefined {
  if (pod.spec?.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
  const nominated = places.find(({ name }) => name === pod.status?.nominatedNodeName);
  const isWaiting = nominated?.pods.some(
    (each) => each.metadata.deletionTimestamp !== undefined && priorityOf(each) < priorityOf(pod),
  );
  return isWaiting === true ? "not eligible due to a terminating pod on the nominated node." : undefined;
}

/** As few as possible: pods are taken back, the most important first, as long as the new one still fits. */
function victimsAt(
  pod: Stored<Pod>,
  place: Place,
  cluster: ClusterView,
  budgets: readonly PodDisruptionBudget[],
): Candidate | string {
  if (judge(pod, place, cluster).some(({ preemptible }) => !preemptible))
    return "Preemption is not helpful for scheduling";
  const lower = place.pods.filter((each) => priorityOf(each) < priorityOf(pod)).toSorted(byImportance);
  if (lower.length === 0) return "No preemption victims found for incoming pod";
  const misfits = (pods: readonly Stored<Pod>[]): readonly string[] => {
    const changed = withPods(place, pods);
    const places = cluster.places.map((each) => (each === place ? changed : each));
    return judge(pod, changed, { ...cluster, places }).map(({ reason }) => reason);
  };
  let kept = place.pods.filter((each) => !lower.includes(each));
  const [reason] = misfits(kept);
  if (reason !== undefined) return reason;
  const violating = violatingOf(lower, budgets);
  for (const each of [...violating, ...lower.filter((other) => !violating.includes(other))])
    if (misfits([...kept, each]).length === 0) kept = [...kept, each];
  const victims = lower.filter((each) => !kept.includes(each));
  return { node: place.name, victims, violations: victims.filter((each) => violating.includes(each)).length };
}

/** Pods whose end one of their budgets does not allow. */
function violatingOf(pods: readonly Stored<Pod>[], budgets: readonly PodDisruptionBudget[]): readonly Stored<Pod>[] {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  return pods.filter((pod) => {
    const own = budgets.filter(
      ({ metadata, spec }) =>
        metadata.namespace === pod.metadata.namespace &&
        spec.selector !== undefined &&
        matchesLabelSelector(spec.selector, pod.metadata.labels ?? {}),
    );
    for (const budget of own) allowed.set(budget, (allowed.get(budget) ?? 0) - 1);
    return own.some((budget) => (allowed.get(budget) ?? 0) < 0);
  });
}

/** A higher priority first, then the one that runs for longer. */
function byImportance(a: Stored<Pod>, b: Stored<Pod>): number {
  const order = priorityOf(b) - priorityOf(a);
  if (order !== 0) return order;
  return startOf(a) < startOf(b) ? -1 : 1;
}

function startOf({ status, metadata }: Stored<Pod>): string {
  return status?.startTime ?? metadata.creationTimestamp ?? "";
}

/**
 * Fewer violated budgets, then less important victims, then fewer, then those of the node that started last.
 */
function byHarm(a: Candidate, b: Candidate): number {
  const harm = ({ violations, victims }: Candidate): readonly number[] => [
    violations,
    Math.max(...victims.map(priorityOf)),
    victims.reduce((sum, each) => sum + priorityOf(each) + 2 ** 31, 0),
    victims.length,
    -Math.min(...victims.map((each) => Date.parse(startOf(each)))),
  ];
  const right = harm(b);
  return (
    harm(a)
      .map((value, i) => value - (right[i] ?? 0))
      .find((difference) => difference !== 0) ?? 0
  );
}
