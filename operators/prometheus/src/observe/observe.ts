/** Reads everything that the plan needs into one snapshot; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { Namespace, Secret, StatefulSet } from "setpoint/kinds";
import { PodMonitor } from "../kind/pod-monitor.ts";
import { Probe } from "../kind/probe.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { keysOfPrometheus } from "../select/prometheus-keys.ts";
import { keysOfScrapeObjects, type ScrapeObjects, selectScrapeObjects } from "../select/scrape-objects.ts";
import { isManaged, selected } from "../select/selection.ts";
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
  const objects = selectScrapeObjects(prometheus, listScrapeObjects(context), namespaces);
  const own = keysOfPrometheus(prometheus).map(({ asset }) => asset);
  const { name, namespace } = prometheus.metadata;
  return {
    prometheus,
    ...objects,
    rules: selected(prometheus, "PrometheusRule", context.list(PrometheusRule, { allNamespaces: true }), namespaces),
    namespaces,
    assets: await readAssets([...own, ...keysOfScrapeObjects(objects)], context),
    statefulSets: context.children.list(StatefulSet),
    pods: await observePods({ label: labels.name, name }, context, gateway),
    // A user's Secret has no label of ours, so the cache lacks it.
    hasConfiguration:
      isManaged(prometheus.spec) || (await context.fresh(Secret, prefixed(prometheus), namespace)) !== undefined,
  };
}

function listScrapeObjects(context: ReconcileContext): ScrapeObjects {
  return {
    serviceMonitors: context.list(ServiceMonitor, { allNamespaces: true }),
    podMonitors: context.list(PodMonitor, { allNamespaces: true }),
    probes: context.list(Probe, { allNamespaces: true }),
    scrapeConfigs: context.list(ScrapeConfig, { allNamespaces: true }),
  };
}
