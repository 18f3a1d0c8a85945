/** The kind Prometheus: a Prometheus server, and which monitors and rules it uses. */
import { defineKind, type ObjectOf } from "setpoint";
import { labelSelector } from "setpoint/kinds";
import { z } from "zod";
import {
  commonPrometheusFields,
  type CommonPrometheusSpec,
  prometheusColumns,
  prometheusScale,
  prometheusStatus,
} from "./common-prometheus.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { count, flag, open, type Read, text } from "./open-object.ts";
import { keySelector } from "./references.ts";
import { alerting, remoteRead } from "./remote-endpoints.ts";
import { thanosSidecar } from "./thanos-fields.ts";

const selector = labelSelector().optional();

const rules = {
  ruleSelector: selector.describe("The PrometheusRules to use: {} is all of them, absent is none."),
  ruleNamespaceSelector: selector.describe("The namespaces of PrometheusRules; its own when absent."),
  prometheusRulesExcludedFromEnforce: z.array(open({ ruleNamespace: z.string(), ruleName: z.string() })).optional(),
  evaluationInterval: z.string().default("30s").describe("How often rules are evaluated."),
  ruleQueryOffset: text,
  rules: open({
    alert: open({ forOutageTolerance: text, forGracePeriod: text, resendDelay: text }).optional(),
  }).optional(),
};

const alerts = {
  alerting: alerting.optional(),
  additionalAlertRelabelConfigs: keySelector.optional(),
  additionalAlertManagerConfigs: keySelector.optional(),
};

const data = {
  remoteRead: z.array(remoteRead).optional(),
  retention: text,
  retentionSize: text,
  disableCompaction: flag,
  allowOverlappingBlocks: flag,
  exemplars: open({ maxSize: count }).optional(),
  query: open({ lookbackDelta: text, maxConcurrency: count, maxSamples: count, timeout: text }).optional(),
  queryLogFile: text,
  enableAdminAPI: flag,
  thanos: thanosSidecar.optional().describe("A sidecar of Thanos, by which others query and keep the samples."),
};

const serverFields = { ...rules, ...alerts, ...data };

export const prometheusSpec = open({ ...commonPrometheusFields, ...serverFields });

/** The kind Prometheus, `monitoring.coreos.com/v1`. */
export const Prometheus = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "Prometheus",
  plural: "prometheuses",
  shortNames: ["prom"],
  categories,
  spec: prometheusSpec,
  status: prometheusStatus,
  scale: prometheusScale,
  printerColumns: prometheusColumns,
});
export type Prometheus = ObjectOf<typeof Prometheus>;
export type PrometheusSpec = Prometheus["spec"];

const server = open(serverFields);

/** A Prometheus, or an agent, which has none of the fields of a server. */
export interface AnyPrometheus {
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
  readonly spec: CommonPrometheusSpec & Partial<Read<typeof server>>;
}
