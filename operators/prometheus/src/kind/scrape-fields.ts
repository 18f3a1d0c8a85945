/** What the kinds that state scrapes have in common. */
import { conditions } from "setpoint";
import { intOrString, labelSelector } from "setpoint/kinds";
import { z } from "zod";
import { count, flag, open, type Read, text, texts } from "./open-object.ts";

export const relabeling = open({
  sourceLabels: texts,
  separator: text,
  targetLabel: text,
  regex: text,
  modulus: count,
  replacement: text,
  action: z.string().default("replace"),
});

/** Prometheus reads no configuration in which one is negative. */
const limit = z.int().min(0).optional();

const nativeHistogramFields = {
  scrapeNativeHistograms: flag,
  scrapeClassicHistograms: flag,
  nativeHistogramBucketLimit: limit,
  nativeHistogramMinBucketFactor: intOrString().optional(),
  convertClassicHistogramsToNHCB: flag,
};

/** Limits of what one scrape may bring; 0 and absence are no limit. */
export const limitFields = {
  sampleLimit: limit,
  targetLimit: limit,
  labelLimit: limit,
  labelNameLengthLimit: limit,
  labelValueLengthLimit: limit,
  keepDroppedTargets: limit,
};

/** How one scrape is read, and what it may bring. */
export const sampleFields = {
  scrapeProtocols: texts,
  fallbackScrapeProtocol: text,
  scrapeClass: text.describe("The scrape class of the Prometheus to use; its default one when absent."),
  ...limitFields,
  ...nativeHistogramFields,
};

export const attachMetadata = open({ node: flag });
export const selector = labelSelector();
export const namespaceSelector = open({ any: flag, matchNames: texts });

/** The fields of the spec of a monitor. */
export const monitorFields = {
  jobLabel: text.describe("The label of the Service or pod whose value is the job; its name when absent."),
  podTargetLabels: texts.describe("Labels of pods that become labels of the samples."),
  selector: selector.describe("The Services or pods to scrape."),
  selectorMechanism: z
    .enum(["RelabelConfig", "RoleSelector"])
    .optional()
    .describe("Whether Prometheus filters by relabeling, or asks the API server for the selected objects alone."),
  namespaceSelector: namespaceSelector
    .optional()
    .describe("The namespaces to look in; that of the monitor when absent."),
  attachMetadata: attachMetadata.optional(),
  bodySizeLimit: text,
  ...sampleFields,
};

/** The fields of one endpoint of a monitor. */
export const endpointFields = {
  targetPort: intOrString().optional(),
  path: text,
  scheme: text,
  params: z.record(z.string(), z.array(z.string())).optional(),
  interval: text,
  scrapeTimeout: text,
  honorLabels: flag,
  honorTimestamps: flag,
  trackTimestampsStaleness: flag,
  metricRelabelings: z.array(relabeling).optional(),
  relabelings: z.array(relabeling).optional(),
  filterRunning: flag,
};

/** Which Prometheus uses the object, and whether it accepted it. */
export const configurationStatus = z.object({
  bindings: z
    .array(
      z.object({
        group: z.string(),
        resource: z.string(),
        name: z.string(),
        namespace: z.string(),
        conditions: conditions().optional(),
      }),
    )
    .optional()
    .describe("One for each Prometheus that selects the object."),
  conditions: conditions().optional().describe("Whether the targets are scraped, and else why not."),
});

const nativeHistograms = z.object(nativeHistogramFields);
export type NativeHistograms = Read<typeof nativeHistograms>;
export type Relabeling = Read<typeof relabeling>;
export type AttachMetadata = Read<typeof attachMetadata>;
export type Selector = Read<typeof selector>;
export type NamespaceSelector = Read<typeof namespaceSelector>;
export type LimitName = keyof typeof limitFields;
