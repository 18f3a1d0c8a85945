/**
 * What follows for a node and its pods from the node's conditions and its silence, as upstream decides it;
 * pure.
 */
import { lookupTable } from "@setpoint/apimachinery";
import type { Node } from "@setpoint/api";
import type { Taint } from "../scheduler/filters/taints.ts";

export type NodeCondition = NonNullable<NonNullable<Node["status"]>["conditions"]>[number];

const conditionTypes = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"] as const;

const prefix = "node.kubernetes.io";
const notReady = `${prefix}/not-ready`;
const unreachable = `${prefix}/unreachable`;
/** Conditions that keep new pods away while they are True. */
const pressureTaints: Readonly<Record<string, string>> = lookupTable({
  MemoryPressure: `${prefix}/memory-pressure`,
  DiskPressure: `${prefix}/disk-pressure`,
  PIDPressure: `${prefix}/pid-pressure`,
  NetworkUnavailable: `${prefix}/network-unavailable`,
});
const unschedulable = `${prefix}/unschedulable`;
const ownKeys = new Set([notReady, unreachable, unschedulable, ...Object.values(pressureTaints)]);

/** A node that has never said anything is not ready; it is Unknown when it was silent for too long. */
export function readyStatus(node: Node): string {
  return node.status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "False";
}

/** The conditions of a node that is not heard of; empty when they all are Unknown already. */
export function unknownConditions(node: Node, now: string): readonly NodeCondition[] {
  return conditionTypes.flatMap((type) => {
    const known = node.status?.conditions?.find((each) => each.type === type);
    if (known?.status === "Unknown") return [];
    const why =
      known === undefined
        ? { reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." }
        : { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
    return [{ type, status: "Unknown", ...why, lastTransitionTime: now }];
  });
}

/**
 * All taints that the node is to have: those of others, and those of its conditions. When no node at all is
 * ready (`isFullDisruption`) nothing is evicted, because it is likelier that the control plane was away than
 * all nodes.
 */
export function wantedTaints(node: Node, isFullDisruption: boolean, now: string): readonly Taint[] {
  const present = node.spec?.taints ?? [];
  const ready = readyStatus(node);
  const unready = ready === "True" ? [] : [ready === "False" ? notReady : unreachable];
  const pressures = (node.status?.conditions ?? []).flatMap(({ type, status }) =>
    status === "True" && pressureTaints[type] !== undefined ? [pressureTaints[type]] : [],
  );
  const cordoned = node.spec?.unschedulable === true ? [unschedulable] : [];
  const own = [
    ...[...unready, ...pressures, ...cordoned].map((key): Taint => ({ key, effect: "NoSchedule" })),
    ...(isFullDisruption ? [] : unready.map((key): Taint => ({ key, effect: "NoExecute", timeAdded: now }))),
  ];
  const kept = present.filter(({ key }) => !ownKeys.has(key));
  return [...kept, ...own.map((taint) => present.find((each) => isSame(each, taint)) ?? taint)];
}

export function isSame(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
