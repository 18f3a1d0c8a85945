import { PodDisruptionBudget } from "setpoint/kinds";
import type { MemberSet } from "./member-set.ts";

/** Lets a drain take members as long as so many are left. */
export function memberBudget({ name, namespace, label }: MemberSet, minAvailable: number): PodDisruptionBudget {
  const labels = { [label]: name };
  return PodDisruptionBudget({ name, namespace, labels, spec: { minAvailable, selector: { matchLabels: labels } } });
}

/** Compares what we set. */
export function isBudgetAsWanted(
  present: PodDisruptionBudget,
  { name, label }: MemberSet,
  minAvailable: number,
): boolean {
  const { minAvailable: presentMin, maxUnavailable, selector } = present.spec ?? {};
  const keys = Object.keys(selector?.matchLabels ?? {});
  return (
    present.metadata.labels?.[label] === name &&
    presentMin === minAvailable &&
    maxUnavailable === undefined &&
    selector?.matchLabels?.[label] === name &&
    keys.length === 1
  );
}

/**
 * A merge patch that restores a budget. An apply is not enough, because it keeps what another client has
 * added.
 */
export function budgetRestoration(present: PodDisruptionBudget, wanted: PodDisruptionBudget): object {
  const foreign = Object.keys(present.spec?.selector?.matchLabels ?? {}).map((label) => [label, null] as const);
  const matchLabels = { ...Object.fromEntries(foreign), ...wanted.spec?.selector?.matchLabels };
  const spec = { ...wanted.spec, maxUnavailable: null, selector: { matchLabels } };
  return { metadata: { labels: wanted.metadata.labels }, spec };
}
