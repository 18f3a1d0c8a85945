/** Reads everything that the plan needs into one snapshot; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { DaemonSet, Namespace, Secret, StatefulSet } from "setpoint/kinds";
import { PodMonitor } from "../kind/pod-monitor.ts";
import { Probe } from "../kind/probe.ts";
import { Prometheus } from "../kind/prometheus.ts";
import type { PrometheusAgent } from "../kind/prometheus-agent.ts";
import { PrometheusRule } from "../kind/prometheus-rule.ts";
import { ScrapeConfig } from "../kind/scrape-config.ts";
import { ServiceMonitor } from "../kind/service-monitor.ts";
import { keysOfPrometheus } from "../select/prometheus-keys.ts";
import { keysOfScrapeObjects, type ScrapeObjects, selectScrapeObjects } from "../select/scrape-objects.ts";
import { isManaged, selected } from "../select/selection.ts";
import type { AgentSeen, ScrapingSeen, Seen } from "../seen/seen.ts";
import { applicationName, labels, prefixed } from "../workload/names.ts";
import type { LoadedGateway } from "./loaded-gateway.ts";
import { observePods } from "./observe-pods.ts";
import { readAssets } from "./read-assets.ts";

export async function observe(
  prometheus: Stored<Prometheus>,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<Seen> {
  const scraping = await observeScraping(prometheus, context, gateway);
  const rules = context.list(PrometheusRule, { allNamespaces: true });
  return {
    ...scraping,
    rules: selected(prometheus, "PrometheusRule", rules, scraping.namespaces),
    hasSidecars: context.list(Prometheus).some(({ spec }) => spec.thanos !== undefined),
  };
}

export async function observeAgent(
  agent: Stored<PrometheusAgent>,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<AgentSeen> {
  const scraping = await observeScraping(agent, context, gateway);
  return { ...scraping, daemonSets: context.children.list(DaemonSet) };
}

async function observeScraping<P extends Stored<Prometheus> | Stored<PrometheusAgent>>(
  prometheus: P,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<ScrapingSeen & { readonly prometheus: P }> {
  const namespaces = context.list(Namespace, { allNamespaces: true });
  const objects = selectScrapeObjects(prometheus, listScrapeObjects(context), namespaces);
  const { namespace } = prometheus.metadata;
  const own = keysOfPrometheus(prometheus).map(({ asset }) => asset);
  const pods = { [labels.name]: prometheus.metadata.name, "app.kubernetes.io/name": applicationName(prometheus) };
  return {
    prometheus,
    ...objects,
    namespaces,
    assets: await readAssets([...own, ...keysOfScrapeObjects(objects)], context),
    statefulSets: context.children.list(StatefulSet),
    pods: await observePods(pods, context, gateway),
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
