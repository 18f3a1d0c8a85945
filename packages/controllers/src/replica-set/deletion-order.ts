import type { Pod } from "@setpoint/api";
import { isReady } from "../pod-state.ts";

/** Lower comes first: a pod that does less good is deleted first (controller_utils.go of upstream). */
function rank(pod: Pod): readonly (number | string)[] {
  const restarts = pod.status?.containerStatuses?.reduce((sum, each) => sum + each.restartCount, 0) ?? 0;
  return [
    pod.spec?.nodeName === undefined ? 0 : 1,
    ["Pending", "Unknown", "Running"].indexOf(pod.status?.phase ?? "Pending"),
    isReady(pod) ? 1 : 0,
    Number(pod.metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? 0),
    -restarts,
  ];
}

/** Pods in the order in which a shrinking ReplicaSet deletes them; the newer of equals goes first. */
export function inDeletionOrder<T extends Pod>(pods: readonly T[]): readonly T[] {
  return [...pods].sort((a, b) => {
    const left = rank(a);
    const right = rank(b);
    const differs = left.findIndex((value, i) => value !== right[i]);
    if (differs !== -1) return (left[differs] ?? 0) < (right[differs] ?? 0) ? -1 : 1;
    return (a.metadata.creationTimestamp ?? "") > (b.metadata.creationTimestamp ?? "") ? -1 : 1;
  });
}
