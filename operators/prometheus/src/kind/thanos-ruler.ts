/** The kind ThanosRuler: evaluates rules on what servers of Thanos answer. */
import { defineKind, type ObjectOf } from "setpoint";
import { labelSelector } from "setpoint/kinds";
import { z } from "zod";
import { excludedObject } from "./common-prometheus.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { count, flag, open, text, textMap, texts } from "./open-object.ts";
import { podFields, storage } from "./pod-fields.ts";
import { keySelector } from "./references.ts";
import { grpcServerTls } from "./thanos-fields.ts";
import { webFields } from "./web-server.ts";
import { workloadColumns, workloadStatus } from "./workload-fields.ts";

const selector = labelSelector().optional();
const key = keySelector.optional();

const rules = {
  ruleSelector: selector.describe("The PrometheusRules to use: {} is all of them, absent is none."),
  ruleNamespaceSelector: selector.describe("The namespaces of PrometheusRules; its own when absent."),
  enforcedNamespaceLabel: text.describe("A label that each rule gets; its value is the namespace."),
  excludedFromEnforcement: z.array(excludedObject).optional(),
  prometheusRulesExcludedFromEnforce: z.array(open({ ruleNamespace: z.string(), ruleName: z.string() })).optional(),
  evaluationInterval: z.string().default("15s").describe("How often rules are evaluated."),
  resendDelay: text,
  ruleOutageTolerance: text,
  ruleQueryOffset: text,
  ruleConcurrentEval: count,
  ruleGracePeriod: text,
};

const servers = {
  queryEndpoints: texts.describe("Servers that answer the queries of rules; or queryConfig."),
  queryConfig: key,
  alertmanagersUrl: texts.describe("Where alerts go; or alertmanagersConfig."),
  alertmanagersConfig: key,
  alertRelabelConfigs: key,
  alertRelabelConfigFile: text,
  alertQueryUrl: text,
  alertDropLabels: texts,
  labels: textMap.describe("Labels of the samples and alerts that it makes."),
  objectStorageConfig: key,
  objectStorageConfigFile: text,
  tracingConfig: key,
  tracingConfigFile: text,
  grpcServerTlsConfig: grpcServerTls.optional(),
};

const pods = {
  ...podFields,
  version: text.describe("The version of Thanos; it chooses the image and what the command line may have."),
  replicas: count.describe("How many pods there are; each evaluates all rules."),
  paused: flag.describe("Whether the operator leaves the ThanosRuler as it is."),
  storage: storage.optional(),
  retention: z.string().default("24h").describe("How long its own samples are kept."),
  serviceAccountName: text,
  externalPrefix: text,
  web: open(webFields).optional(),
};

export const thanosRulerSpec = open({ ...rules, ...servers, ...pods });

/** The kind ThanosRuler, `monitoring.coreos.com/v1`. */
export const ThanosRuler = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "ThanosRuler",
  shortNames: ["ruler"],
  categories,
  spec: thanosRulerSpec,
  status: z.object(workloadStatus),
  printerColumns: { Version: "spec.version", Replicas: "spec.replicas", ...workloadColumns },
});
export type ThanosRuler = ObjectOf<typeof ThanosRuler>;
export type ThanosRulerSpec = ThanosRuler["spec"];
