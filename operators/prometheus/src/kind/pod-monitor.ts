/** The kind PodMonitor: how a group of pods is scraped. */
import { defineKind, type ObjectOf } from "setpoint";
import { z } from "zod";
import { endpointHttpFields, safeTls } from "./http-client.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { count, open, text } from "./open-object.ts";
import { configurationStatus, endpointFields, monitorFields } from "./scrape-fields.ts";

const endpoint = open({
  port: text.describe("The name of the container's port."),
  portNumber: count,
  ...endpointFields,
  ...endpointHttpFields,
  tlsConfig: safeTls.optional(),
});

export const podMonitorSpec = open({
  ...monitorFields,
  podMetricsEndpoints: z.array(endpoint).optional().describe("What is scraped of each selected pod."),
});

/** The kind PodMonitor, `monitoring.coreos.com/v1`. */
export const PodMonitor = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "PodMonitor",
  shortNames: ["pmon"],
  categories,
  spec: podMonitorSpec,
  status: configurationStatus,
});
export type PodMonitor = ObjectOf<typeof PodMonitor>;
export type PodEndpoint = NonNullable<PodMonitor["spec"]["podMetricsEndpoints"]>[number];
