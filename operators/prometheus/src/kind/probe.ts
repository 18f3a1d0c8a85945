/** The kind Probe: addresses or Ingresses that a prober, such as the blackbox exporter, asks. */
import { defineKind, type ObjectOf } from "setpoint";
import { z } from "zod";
import { accessFields, proxyFields, safeTls } from "./http-client.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { duration, open, text, textMap, texts } from "./open-object.ts";
import { configurationStatus, namespaceSelector, relabeling, sampleFields, selector } from "./scrape-fields.ts";

const relabelingConfigs = z.array(relabeling).optional();

const prober = open({
  url: z.string().describe("The host of the prober, or HOST:PORT."),
  scheme: text,
  path: z.string().default("/probe"),
  ...proxyFields,
});

const targets = open({
  staticConfig: open({ static: texts, labels: textMap, relabelingConfigs }).optional(),
  ingress: open({
    selector: selector.optional(),
    namespaceSelector: namespaceSelector.optional(),
    relabelingConfigs,
  }).optional(),
});

export const probeSpec = open({
  jobName: text.describe("The label job of the samples."),
  prober: prober.optional().describe("Who asks the targets; Prometheus scrapes the answers there."),
  module: text.describe("The module of the prober."),
  targets: targets.optional().describe("What is asked: addresses, or else the hosts and paths of Ingresses."),
  interval: duration,
  scrapeTimeout: duration,
  metricRelabelings: z.array(relabeling).optional(),
  params: z.array(open({ name: z.string(), values: texts })).optional(),
  ...sampleFields,
  ...accessFields,
  tlsConfig: safeTls.optional(),
});

/** The kind Probe, `monitoring.coreos.com/v1`. */
export const Probe = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "Probe",
  shortNames: ["prb"],
  categories,
  spec: probeSpec,
  status: configurationStatus,
});
export type Probe = ObjectOf<typeof Probe>;
export type ProbeTargets = NonNullable<Probe["spec"]["targets"]>;
