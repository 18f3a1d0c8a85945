/** Reads everything that the plan needs into one snapshot; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { Namespace, Secret, StatefulSet } from "setpoint/kinds";
import { PodMonitor } from "../kind/pod-monitor.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { keysOfPrometheus } from "../select/prometheus-keys.ts";
import { monitorKeys } from "../select/check-monitor.ts";
import { type ConfigurationKind, isManaged, type Labelled, selected } from "../select/selection.ts";
import type { Seen } from "../seen/seen.ts";
import { labels, prefixed } from "../workload/names.ts";
import type { LoadedGateway } from "./loaded-gateway.ts";
import { observePods } from "./observe-pods.ts";
import { readAssets } from "./read-assets.ts";

export async function observe(
  prometheus: Stored<Prometheus>,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<Seen> {
  const namespaces = context.list(Namespace, { allNamespaces: true });
  const choose = <T extends Labelled>(kind: ConfigurationKind, objects: readonly T[]): readonly T[] =>
    selected(prometheus, kind, objects, namespaces);
  const serviceMonitors = choose("ServiceMonitor", context.list(ServiceMonitor, { allNamespaces: true }));
  const podMonitors = choose("PodMonitor", context.list(PodMonitor, { allNamespaces: true }));
  const keys = [...serviceMonitors, ...podMonitors].flatMap(monitorKeys);
  const own = keysOfPrometheus(prometheus).map(({ asset }) => asset);
  const { name, namespace } = prometheus.metadata;
  return {
    prometheus,
    serviceMonitors,
    podMonitors,
    rules: choose("PrometheusRule", context.list(PrometheusRule, { allNamespaces: true })),
    namespaces,
    assets: await readAssets([...own, ...keys], context),
    statefulSets: context.children.list(StatefulSet),
    pods: await observePods({ label: labels.name, name }, context, gateway),
    // A user's Secret has no label of ours, so the cache lacks it.
    hasConfiguration:
      isManaged(prometheus.spec) || (await context.fresh(Secret, prefixed(name), namespace)) !== undefined,
  };
}
