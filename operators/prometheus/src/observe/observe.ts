/** Reads everything that the plan needs into one snapshot; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { Namespace, Pod, Secret, StatefulSet } from "setpoint/kinds";
import { PodMonitor } from "../kind/pod-monitor.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { keysOfPrometheus } from "../select/prometheus-keys.ts";
import { monitorKeys } from "../select/check-monitor.ts";
import { type ConfigurationKind, isManaged, type Labelled, selected } from "../select/selection.ts";
import type { Seen, SeenPod } from "../seen/seen.ts";
import { labels, prefixed } from "../workload/names.ts";
import type { LoadedGateway } from "./loaded-gateway.ts";
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
    pods: await observePods(prometheus, context, gateway),
    // A user's Secret has no label of ours, so the cache lacks it.
    hasConfiguration:
      isManaged(prometheus.spec) || (await context.fresh(Secret, prefixed(name), namespace)) !== undefined,
  };
}

async function observePods(
  { metadata }: Prometheus,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<readonly SeenPod[]> {
  const pods = context.list(Pod).filter((pod) => pod.metadata.labels?.[labels.name] === metadata.name);
  const sorted = pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const seen = await Promise.all(sorted.map((pod) => observePod(pod, gateway, context.signal)));
  context.signal.throwIfAborted();
  return seen;
}

async function observePod(pod: Stored<Pod>, gateway: LoadedGateway, signal: AbortSignal): Promise<SeenPod> {
  const { podIP, conditions = [] } = pod.status ?? {};
  const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
  const isAsked = podIP !== undefined && pod.metadata.deletionTimestamp === undefined;
  // One that does not answer is a fact too.
  const loaded = isAsked ? await gateway(podIP, signal).catch(() => undefined) : undefined;
  return { name: pod.metadata.name, isReady, loaded };
}
