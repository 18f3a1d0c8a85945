/** The kind Alertmanager: a group of Alertmanagers, and which AlertmanagerConfigs it uses. */
import { defineKind, type ObjectOf } from "setpoint";
import { labelSelector } from "setpoint/kinds";
import { z } from "zod";
import { alertmanagerGlobal } from "./alertmanager-global.ts";
import { safeTls } from "./http-client.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { count, flag, open, text, texts } from "./open-object.ts";
import { podFields, storage } from "./pod-fields.ts";
import { secretOrConfigMap } from "./references.ts";
import { serverTls, webFields } from "./web-server.ts";
import { workloadColumns, workloadStatus } from "./workload-fields.ts";

const selector = labelSelector().optional();

const configuration = {
  configSecret: text.describe("The Secret with alertmanager.yaml and its templates; alertmanager-NAME when absent."),
  alertmanagerConfigSelector: selector.describe("The AlertmanagerConfigs to use: {} is all of them, absent is none."),
  alertmanagerConfigNamespaceSelector: selector.describe("The namespaces of AlertmanagerConfigs; its own when absent."),
  alertmanagerConfigMatcherStrategy: open({
    type: z
      .enum(["OnNamespace", "OnNamespaceExceptForAlertmanagerNamespace", "None"])
      .default("OnNamespace")
      .describe("Whether routes and inhibitions of an AlertmanagerConfig are for alerts of its namespace alone."),
  }).optional(),
  alertmanagerConfiguration: open({
    name: text.describe("An AlertmanagerConfig of the own namespace whose route is the root."),
    global: alertmanagerGlobal.optional(),
    templates: z.array(secretOrConfigMap).optional(),
  })
    .optional()
    .describe("The configuration in place of that of the Secret."),
};

const cluster = {
  additionalPeers: texts,
  clusterAdvertiseAddress: text,
  clusterGossipInterval: text,
  clusterLabel: text,
  clusterPushpullInterval: text,
  clusterPeerTimeout: text,
  forceEnableClusterMode: flag,
  clusterTLS: open({ server: serverTls, client: safeTls }).optional(),
};

const pods = {
  ...podFields,
  version: text.describe("The version of Alertmanager; it chooses the image and what the configuration may have."),
  replicas: count.describe("How many pods there are; they gossip, so that each alert is notified once."),
  paused: flag.describe("Whether the operator leaves the Alertmanager as it is."),
  storage: storage.optional(),
  retention: z.string().default("120h").describe("How long silences and notifications are remembered."),
  serviceAccountName: text,
  web: open({ ...webFields, getConcurrency: count, timeout: count }).optional(),
  limits: open({ maxSilences: count, maxPerSilenceBytes: text }).optional(),
};

export const alertmanagerSpec = open({ ...configuration, ...cluster, ...pods });

const status = z.object({ ...workloadStatus, selector: text });

/** The kind Alertmanager, `monitoring.coreos.com/v1`. */
export const Alertmanager = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "Alertmanager",
  shortNames: ["am"],
  categories,
  spec: alertmanagerSpec,
  status,
  scale: { specReplicas: "replicas", statusReplicas: "replicas", selector: "selector" },
  printerColumns: {
    Version: "spec.version",
    Replicas: "spec.replicas",
    ...workloadColumns,
  },
});
export type Alertmanager = ObjectOf<typeof Alertmanager>;
export type AlertmanagerSpec = Alertmanager["spec"];
