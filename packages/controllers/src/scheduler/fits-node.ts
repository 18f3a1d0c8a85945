/** Whether a pod may run on a node, and in upstream's words why not; pure. */
import type { Node, Pod } from "@setpoint/api";
import { matchesNodeSelector } from "./node-affinity.ts";
import { isTolerated } from "./taints.ts";

/** Undefined when it fits. */
export function misfit(pod: Pod, node: Node, podsOnNode: number): string | undefined {
  const reason = repelledBy(pod, node);
  if (reason !== undefined) return reason;
  if (!matchesNodeSelector(pod, node)) return "node(s) didn't match Pod's node affinity/selector";
  if (podsOnNode >= Number(node.status?.allocatable?.["pods"] ?? 110)) return "Too many pods";
  return undefined;
}

const noSchedule = "NoSchedule" as const;
const unschedulable = { key: "node.kubernetes.io/unschedulable", effect: noSchedule };
const notReady = { key: "node.kubernetes.io/not-ready", effect: noSchedule };

/** A cordoned node, or one that is not ready, repels pods as its taint would that another controller adds. */
function repelledBy(pod: Pod, { spec, status }: Node): string | undefined {
  const tolerations = pod.spec?.tolerations ?? [];
  if (spec?.unschedulable === true && !isTolerated(unschedulable, tolerations)) return "node(s) were unschedulable";
  const ready = status?.conditions?.find((each) => each.type === "Ready");
  if (ready?.status !== "True" && !isTolerated(notReady, tolerations)) return "node(s) were not ready";
  const taint = spec?.taints?.find((each) => each.effect !== "PreferNoSchedule" && !isTolerated(each, tolerations));
  return taint === undefined ? undefined : `node(s) had untolerated taint(s) {${taint.key}: ${taint.value ?? ""}}`;
}
