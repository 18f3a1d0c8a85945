import { PodDisruptionBudget } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { labels } from "../kind/member-names.ts";

/** Lets a drain take one member at a time. A single member may be taken: it comes back on its volume. */
export function memberBudget({ metadata: { name = "", namespace = "" }, spec }: EtcdCluster): PodDisruptionBudget {
  return PodDisruptionBudget({
    name,
    namespace,
    labels: { [labels.cluster]: name },
    spec: { minAvailable: spec.size - 1, selector: { matchLabels: { [labels.cluster]: name } } },
  });
}

/** Compares what we set. */
export function isBudgetAsWanted(present: PodDisruptionBudget, cluster: EtcdCluster): boolean {
  const { name } = cluster.metadata;
  const { minAvailable, maxUnavailable, selector } = present.spec ?? {};
  const keys = Object.keys(selector?.matchLabels ?? {});
  return (
    present.metadata.labels?.[labels.cluster] === name &&
    minAvailable === cluster.spec.size - 1 &&
    maxUnavailable === undefined &&
    selector?.matchLabels?.[labels.cluster] === name &&
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
