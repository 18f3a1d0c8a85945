/** Taints of nodes and the tolerations of pods; pure. */
import type { Node, Pod } from "@setpoint/api";

export type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];
export type Toleration = NonNullable<NonNullable<Pod["spec"]>["tolerations"]>[number];

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some(
    ({ key, operator = "Equal", value = "", effect }) =>
      (effect === undefined || effect === taint.effect) &&
      (operator === "Exists" ? (key ?? taint.key) === taint.key : key === taint.key && value === (taint.value ?? "")),
  );
}
