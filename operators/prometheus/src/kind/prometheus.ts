/** The kind Prometheus: a Prometheus server, and which monitors and rules it uses. */
import { age, conditions, defineKind, type ObjectOf } from "setpoint";
import { conditionColumn, intOrString, labelSelector, preserved } from "setpoint/kinds";
import { z } from "zod";
import { authorization, tls } from "./http-client.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { count, flag, open, text, textMap, texts } from "./open-object.ts";
import { podFields, storage } from "./pod-fields.ts";
import { keySelector } from "./references.ts";
import { alerting, apiServer, remoteRead, remoteWrite, tracing } from "./remote-endpoints.ts";
import { attachMetadata, limitFields, relabeling } from "./scrape-fields.ts";

const selector = labelSelector().optional();

const selectors = {
  serviceMonitorSelector: selector.describe("The ServiceMonitors to use: {} is all of them, absent is none."),
  serviceMonitorNamespaceSelector: selector.describe("The namespaces of ServiceMonitors; its own when absent."),
  podMonitorSelector: selector.describe("The PodMonitors to use: {} is all of them, absent is none."),
  podMonitorNamespaceSelector: selector.describe("The namespaces of PodMonitors; its own when absent."),
  probeSelector: selector.describe("The Probes to use: {} is all of them, absent is none."),
  probeNamespaceSelector: selector.describe("The namespaces of Probes; its own when absent."),
  scrapeConfigSelector: selector,
  scrapeConfigNamespaceSelector: selector,
  ruleSelector: selector.describe("The PrometheusRules to use: {} is all of them, absent is none."),
  ruleNamespaceSelector: selector.describe("The namespaces of PrometheusRules; its own when absent."),
};

const scrapeClass = open({
  name: z.string(),
  default: flag,
  fallbackScrapeProtocol: text,
  tlsConfig: tls.optional(),
  authorization: authorization.optional(),
  relabelings: z.array(relabeling).optional(),
  metricRelabelings: z.array(relabeling).optional(),
  attachMetadata: attachMetadata.optional(),
});

const excludedObject = open({
  group: z.string().default(monitoringGroup),
  resource: z.string(),
  namespace: z.string(),
  name: text,
});

const scraping = {
  scrapeInterval: z.string().default("30s").describe("How often targets are scraped that do not say it themselves."),
  scrapeTimeout: text,
  scrapeProtocols: texts,
  scrapeFailureLogFile: text,
  ...limitFields,
  bodySizeLimit: text,
  enforcedSampleLimit: count,
  enforcedTargetLimit: count,
  enforcedLabelLimit: count,
  enforcedLabelNameLengthLimit: count,
  enforcedLabelValueLengthLimit: count,
  enforcedKeepDroppedTargets: count,
  enforcedBodySizeLimit: text,
  enforcedNamespaceLabel: text.describe("A label that each sample and rule gets; its value is the namespace."),
  excludedFromEnforcement: z.array(excludedObject).optional(),
  prometheusRulesExcludedFromEnforce: z.array(open({ ruleNamespace: z.string(), ruleName: z.string() })).optional(),
  scrapeClasses: z.array(scrapeClass).optional(),
  podTargetLabels: texts,
  overrideHonorLabels: flag,
  overrideHonorTimestamps: flag,
  ignoreNamespaceSelectors: flag,
  arbitraryFSAccessThroughSMs: open({ deny: flag }).optional(),
  serviceDiscoveryRole: text,
  apiserverConfig: apiServer.optional(),
  additionalScrapeConfigs: keySelector.optional(),
  nameValidationScheme: text,
  nameEscapingScheme: text,
  convertClassicHistogramsToNHCB: flag,
  scrapeNativeHistograms: flag,
  scrapeClassicHistograms: flag,
};

const shardingStrategy = open({
  mode: text,
  topology: open({ externalLabelName: text, values: texts }).optional(),
});

const labelsAndRules = {
  externalLabels: textMap,
  prometheusExternalLabelName: text,
  replicaExternalLabelName: text,
  evaluationInterval: z.string().default("30s").describe("How often rules are evaluated."),
  ruleQueryOffset: text,
  rules: open({
    alert: open({ forOutageTolerance: text, forGracePeriod: text, resendDelay: text }).optional(),
  }).optional(),
};

const remote = {
  remoteWrite: z.array(remoteWrite).optional(),
  remoteRead: z.array(remoteRead).optional(),
  alerting: alerting.optional(),
  additionalAlertRelabelConfigs: keySelector.optional(),
  additionalAlertManagerConfigs: keySelector.optional(),
  tracingConfig: tracing.optional(),
  otlp: open({
    promoteAllResourceAttributes: flag,
    ignoreResourceAttributes: texts,
    promoteResourceAttributes: texts,
    translationStrategy: text,
    keepIdentifyingResourceAttributes: flag,
    convertHistogramsToNHCB: flag,
    promoteScopeMetadata: flag,
    labelNameUnderscoreSanitization: flag,
    labelNamePreserveMultipleUnderscores: flag,
  }).optional(),
  enableRemoteWriteReceiver: flag,
  remoteWriteReceiverMessageVersions: texts,
  enableOTLPReceiver: flag,
};

const data = {
  retention: text,
  retentionSize: text,
  disableCompaction: flag,
  walCompression: flag,
  allowOverlappingBlocks: flag,
  exemplars: open({ maxSize: count }).optional(),
  tsdb: open({
    outOfOrderTimeWindow: text,
    staleSeriesCompactionThreshold: intOrString().optional(),
    chunkEncoding: open({ floats: text }).optional(),
  }).optional(),
  query: open({ lookbackDelta: text, maxConcurrency: count, maxSamples: count, timeout: text }).optional(),
  queryLogFile: text,
  runtime: open({ goGC: count }).optional(),
  storage: storage.optional(),
};

const pods = {
  ...podFields,
  version: text.describe("The version of Prometheus; it chooses the image and what the configuration may have."),
  replicas: count.describe("How many pods each shard has; each scrapes all targets of its shard."),
  shards: z.int().default(1).describe("Over how many StatefulSets the targets are distributed."),
  shardingStrategy: shardingStrategy.optional(),
  paused: flag.describe("Whether the operator leaves the Prometheus as it is."),
  enableAdminAPI: flag,
  web: open({ pageTitle: text, maxConnections: count, tlsConfig: preserved().optional() }).optional(),
  serviceAccountName: text.describe("The ServiceAccount that discovers targets; it is the user's own."),
  reloadStrategy: text,
  maximumStartupDurationSeconds: count,
};

const status = z.object({
  observedGeneration: z.int().optional(),
  paused: z.boolean(),
  replicas: z.int(),
  updatedReplicas: z.int(),
  availableReplicas: z.int(),
  unavailableReplicas: z.int(),
  shards: z.int().optional(),
  selector: z.string().optional(),
  shardStatuses: z
    .array(
      z.object({
        shardID: z.string(),
        replicas: z.int(),
        updatedReplicas: z.int(),
        availableReplicas: z.int(),
        unavailableReplicas: z.int(),
      }),
    )
    .optional(),
  configurationHash: z.string().optional().describe("Of the configuration and rules that all pods should load."),
  problems: z
    .array(z.string())
    .optional()
    .describe("Fields and objects that are left out of the configuration, and why; the first 20."),
  conditions: conditions(),
});

export const prometheusSpec = open({ ...selectors, ...scraping, ...labelsAndRules, ...remote, ...data, ...pods });

/** The kind Prometheus, `monitoring.coreos.com/v1`. */
export const Prometheus = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "Prometheus",
  plural: "prometheuses",
  shortNames: ["prom"],
  categories,
  spec: prometheusSpec,
  status,
  scale: { specReplicas: "shards", statusReplicas: "shards", selector: "selector" },
  printerColumns: {
    Version: "spec.version",
    Desired: "spec.replicas",
    Ready: "status.availableReplicas",
    Reconciled: conditionColumn("Reconciled"),
    Available: conditionColumn("Available"),
    Age: age(),
    Paused: { path: "status.paused", priority: 1 },
  },
});
export type Prometheus = ObjectOf<typeof Prometheus>;
export type PrometheusSpec = Prometheus["spec"];
export type ScrapeClass = NonNullable<PrometheusSpec["scrapeClasses"]>[number];
