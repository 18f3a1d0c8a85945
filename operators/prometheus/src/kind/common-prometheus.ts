/** The fields that Prometheus and PrometheusAgent have in common: what is scraped, and where samples go. */
import { intOrString, labelSelector } from "setpoint/kinds";
import { z } from "zod";
import { authorization, tls } from "./http-client.ts";
import { monitoringGroup } from "./monitoring-group.ts";
import { count, flag, open, type Read, text, textMap, texts } from "./open-object.ts";
import { podFields, storage } from "./pod-fields.ts";
import { keySelector } from "./references.ts";
import { apiServer, remoteWrite, tracing } from "./remote-endpoints.ts";
import { attachMetadata, limitFields, relabeling } from "./scrape-fields.ts";
import { webFields } from "./web-server.ts";
import { workloadColumns, workloadStatus } from "./workload-fields.ts";

const selector = labelSelector().optional();

const selectors = {
  serviceMonitorSelector: selector.describe("The ServiceMonitors to use: {} is all of them, absent is none."),
  serviceMonitorNamespaceSelector: selector.describe("The namespaces of ServiceMonitors; its own when absent."),
  podMonitorSelector: selector.describe("The PodMonitors to use: {} is all of them, absent is none."),
  podMonitorNamespaceSelector: selector.describe("The namespaces of PodMonitors; its own when absent."),
  probeSelector: selector.describe("The Probes to use: {} is all of them, absent is none."),
  probeNamespaceSelector: selector.describe("The namespaces of Probes; its own when absent."),
  scrapeConfigSelector: selector.describe("The ScrapeConfigs to use: {} is all of them, absent is none."),
  scrapeConfigNamespaceSelector: selector.describe("The namespaces of ScrapeConfigs; its own when absent."),
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

export const excludedObject = open({
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

const identity = {
  externalLabels: textMap,
  prometheusExternalLabelName: text,
  replicaExternalLabelName: text,
};

const transfer = {
  remoteWrite: z.array(remoteWrite).optional(),
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
  walCompression: flag,
  tsdb: open({
    outOfOrderTimeWindow: text,
    staleSeriesCompactionThreshold: intOrString().optional(),
    chunkEncoding: open({ floats: text }).optional(),
  }).optional(),
  runtime: open({ goGC: count }).optional(),
  storage: storage.optional(),
};

const pods = {
  ...podFields,
  version: text.describe("The version of Prometheus; it chooses the image and what the configuration may have."),
  replicas: count.describe("How many pods each shard has; each scrapes all targets of its shard."),
  shards: z.int().default(1).describe("Over how many StatefulSets the targets are distributed."),
  shardingStrategy: shardingStrategy.optional(),
  paused: flag.describe("Whether the operator leaves the pods and their configuration as they are."),
  web: open({ ...webFields, pageTitle: text, maxConnections: count }).optional(),
  serviceAccountName: text.describe("The ServiceAccount that discovers targets; it is the user's own."),
  reloadStrategy: text,
  maximumStartupDurationSeconds: count,
};

export const commonPrometheusFields = { ...selectors, ...scraping, ...identity, ...transfer, ...data, ...pods };

const shardStatus = z.object({
  shardID: z.string(),
  replicas: z.int(),
  updatedReplicas: z.int(),
  availableReplicas: z.int(),
  unavailableReplicas: z.int(),
});

export const prometheusStatus = z.object({
  ...workloadStatus,
  shards: z.int().optional(),
  selector: text,
  shardStatuses: z.array(shardStatus).optional(),
});

export const prometheusScale = { specReplicas: "shards", statusReplicas: "shards", selector: "selector" } as const;
export const prometheusColumns = { Version: "spec.version", Desired: "spec.replicas", ...workloadColumns } as const;

const common = open(commonPrometheusFields);
export type CommonPrometheusSpec = Read<typeof common>;
export type ScrapeClass = NonNullable<CommonPrometheusSpec["scrapeClasses"]>[number];
