/** Whether a pod may run at a place, and in upstream's words why not; pure. */
import type { Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import type { ClusterView, Place } from "./cluster-view.ts";
import type { Filter, Misfit } from "./filters/filter.ts";
import { hostPortsFree } from "./filters/host-ports.ts";
import { nodeAffinityMatched } from "./filters/node-affinity.ts";
import { podAffinityMatched, podAntiAffinityMatched } from "./filters/pod-affinity.ts";
import { resourcesSuffice } from "./filters/resources.ts";
import { taintsTolerated } from "./filters/taints.ts";
import { topologySpread } from "./filters/topology-spread.ts";
import { volumesReachable } from "./filters/volumes.ts";

/** In upstream's order: the first that finds something gives the reasons. */
const filters: readonly Filter[] = [
  taintsTolerated,
  nodeAffinityMatched,
  hostPortsFree,
  resourcesSuffice,
  volumesReachable,
  topologySpread,
  podAffinityMatched,
  podAntiAffinityMatched,
];

/** Nothing when the pod fits. */
export function judge(pod: Stored<Pod>, place: Place, cluster: ClusterView): readonly Misfit[] {
  for (const filter of filters) {
    const misfits = filter(pod, place, cluster);
    if (misfits.length > 0) return misfits;
  }
  return [];
}

/** `0/2 nodes are available: 1 Too many pods, 1 node(s) were unschedulable.` */
export function unavailable(nodes: number, reasons: readonly string[]): string {
  const counted = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, equal]) => `${equal.length} ${reason}`);
  return `0/${nodes} nodes are available: ${counted.toSorted().join(", ")}.`;
}
