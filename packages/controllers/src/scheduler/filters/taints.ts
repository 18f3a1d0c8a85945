/** Taints of nodes and the tolerations of pods; pure. */
import type { Node, Pod } from "@setpoint/api";
import { type Filter, unfit } from "./filter.ts";

export type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];
export type Toleration = NonNullable<NonNullable<Pod["spec"]>["tolerations"]>[number];

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(
    ({ key, operator = "Equal", value = "", effect }) =>
      (effect === undefined || effect === taint.effect) &&
      (operator === "Exists" ? (key ?? taint.key) === taint.key : key === taint.key && value === (taint.value ?? "")),
  );
}

const noSchedule = "NoSchedule" as const;
const unschedulable: Taint = { key: "node.kubernetes.io/unschedulable", effect: noSchedule };
const notReady: Taint = { key: "node.kubernetes.io/not-ready", effect: noSchedule };

/** A cordoned node, or one that is not ready, repels pods as its taint would that another controller adds. */
export const taintsTolerated: Filter = (pod, { node: { spec, status } }) => {
  const tolerations = pod.spec?.tolerations ?? [];
  if (spec?.unschedulable === true && !isTolerated(unschedulable, tolerations))
    return unfit("node(s) were unschedulable");
  const ready = status?.conditions?.find((each) => each.type === "Ready");
  if (ready?.status !== "True" && !isTolerated(notReady, tolerations)) return unfit("node(s) were not ready");
  const isRepelled = (spec?.taints ?? []).some(
    (each) => each.effect !== "PreferNoSchedule" && !isTolerated(each, tolerations),
  );
  return isRepelled ? unfit("node(s) had untolerated taint(s)") : [];
};
