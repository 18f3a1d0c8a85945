/** Pods of a group in equal numbers on nodes, zones or other places; pure. */
import type { Pod } from "@setpoint/api";
import { matchesLabelSelector, type LabelSelectorObject } from "@setpoint/apimachinery";
import type { ClusterView, Place } from "../cluster-view.ts";
import { type Filter, occupied, unfit } from "./filter.ts";
import { matchesNodeSelector } from "./node-affinity.ts";
import { isTolerated } from "./taints.ts";

/** One `topologySpreadConstraint`. */
export type SpreadConstraint = NonNullable<NonNullable<Pod["spec"]>["topologySpreadConstraints"]>[number];

const mismatch = "node(s) didn't match pod topology spread constraints";

/** Pods of the group by the value of the topology's label, over the nodes that count. */
export function spreadOf(constraint: SpreadConstraint, pod: Pod, cluster: ClusterView): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const place of cluster.places) {
    const value = place.labels[constraint.topologyKey];
    if (value === undefined || !isCounted(constraint, pod, place)) continue;
    const members = place.pods.filter((other) => isMember(constraint, pod, other)).length;
    counts.set(value, (counts.get(value) ?? 0) + members);
  }
  return counts;
}

/** By default nodes that the pod does not select do not count, and tainted ones do. */
function isCounted(
  { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore" }: SpreadConstraint,
  pod: Pod,
  { node }: Place,
): boolean {
  const isSelected = nodeAffinityPolicy === "Ignore" || matchesNodeSelector(pod, node);
  const isUntainted = (node.spec?.taints ?? []).every(
    (taint) => taint.effect === "PreferNoSchedule" || isTolerated(taint, pod.spec?.tolerations ?? []),
  );
  return isSelected && (nodeTaintsPolicy === "Ignore" || isUntainted);
}

function isMember({ labelSelector, matchLabelKeys = [] }: SpreadConstraint, pod: Pod, other: Pod): boolean {
  const own = pod.metadata.labels ?? {};
  const keyed = Object.fromEntries(matchLabelKeys.flatMap((key) => (own[key] === undefined ? [] : [[key, own[key]]])));
  const selector: LabelSelectorObject = {
    ...labelSelector,
    matchLabels: { ...labelSelector?.matchLabels, ...keyed },
  };
  return (
    labelSelector !== undefined &&
    other.metadata.namespace === pod.metadata.namespace &&
    other.metadata.deletionTimestamp === undefined &&
    matchesLabelSelector(selector, other.metadata.labels ?? {})
  );
}

/** How uneven the group would be with the pod at this place; undefined where the label is missing. */
export function skewAt(constraint: SpreadConstraint, pod: Pod, place: Place, cluster: ClusterView): number | undefined {
  const value = place.labels[constraint.topologyKey];
  if (value === undefined) return undefined;
  const counts = spreadOf(constraint, pod, cluster);
  const least = counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values());
  return (counts.get(value) ?? 0) + (isMember(constraint, pod, pod) ? 1 : 0) - least;
}

export const topologySpread: Filter = (pod, place, cluster) => {
  const hard = (pod.spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule",
  );
  for (const constraint of hard) {
    const skew = skewAt(constraint, pod, place, cluster);
    if (skew === undefined) return unfit(`${mismatch} (missing required label)`);
    if (skew > constraint.maxSkew) return occupied(mismatch);
  }
  return [];
};
