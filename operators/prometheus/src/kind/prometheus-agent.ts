/** The kind PrometheusAgent: a Prometheus that scrapes and sends, and keeps nothing. */
import { defineKind, type ObjectOf, rule } from "setpoint";
import { z } from "zod";
import { commonPrometheusFields, prometheusColumns, prometheusScale, prometheusStatus } from "./common-prometheus.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { open } from "./open-object.ts";

export const agentSpec = open({
  ...commonPrometheusFields,
  mode: z
    .enum(["StatefulSet", "DaemonSet"])
    .optional()
    .describe("Whether pods share all targets, or each scrapes the pods of its own node; StatefulSet when absent."),
});

/** What has no meaning when there is a pod on each node. */
const fieldsOfStatefulSets = [
  "replicas",
  "storage",
  "persistentVolumeClaimRetentionPolicy",
  "scrapeConfigSelector",
  "probeSelector",
  "scrapeConfigNamespaceSelector",
  "probeNamespaceSelector",
  "serviceMonitorSelector",
  "serviceMonitorNamespaceSelector",
  "additionalScrapeConfigs",
  "shardingStrategy",
] as const;

function forbidden(condition: string, message: string): ReturnType<typeof rule> {
  return rule(`!(has(self.spec.mode) && self.spec.mode == 'DaemonSet' && ${condition})`, message);
}

/** The kind PrometheusAgent, `monitoring.coreos.com/v1alpha1`. */
export const PrometheusAgent = defineKind({
  group: monitoringGroup,
  version: "v1alpha1",
  kind: "PrometheusAgent",
  shortNames: ["promagent"],
  categories,
  spec: agentSpec,
  status: prometheusStatus,
  scale: prometheusScale,
  printerColumns: prometheusColumns,
  rules: [
    ...fieldsOfStatefulSets.map((field) =>
      forbidden(`has(self.spec.${field})`, `${field} cannot be set when mode is DaemonSet`),
    ),
    forbidden(
      "has(self.spec.shards) && self.spec.shards > 1",
      "shards cannot be greater than 1 when mode is DaemonSet",
    ),
  ],
});
export type PrometheusAgent = ObjectOf<typeof PrometheusAgent>;
export type PrometheusAgentSpec = PrometheusAgent["spec"];

/** Each pod scrapes the pods of its own node. */
export function isPerNode({ spec }: Pick<PrometheusAgent, "spec">): boolean {
  return spec.mode === "DaemonSet";
}
