/** The kind ServiceMonitor: how the endpoints of a group of Services are scraped. */
import { defineKind, type ObjectOf } from "setpoint";
import { z } from "zod";
import { endpointHttpFields, tls } from "./http-client.ts";
import { categories, monitoringGroup } from "./monitoring-group.ts";
import { open, text, texts } from "./open-object.ts";
import { configurationStatus, endpointFields, monitorFields } from "./scrape-fields.ts";

const endpoint = open({
  port: text.describe("The name of the Service's port."),
  ...endpointFields,
  ...endpointHttpFields,
  tlsConfig: tls.optional(),
  bearerTokenFile: text,
});

export const serviceMonitorSpec = open({
  ...monitorFields,
  targetLabels: texts.describe("Labels of the Service that become labels of the samples."),
  endpoints: z.array(endpoint).describe("What is scraped of each selected Service."),
  serviceDiscoveryRole: text,
});

/** The kind ServiceMonitor, `monitoring.coreos.com/v1`. */
export const ServiceMonitor = defineKind({
  group: monitoringGroup,
  version: "v1",
  kind: "ServiceMonitor",
  shortNames: ["smon"],
  categories,
  spec: serviceMonitorSpec,
  status: configurationStatus,
});
export type ServiceMonitor = ObjectOf<typeof ServiceMonitor>;
export type ServiceEndpoint = ServiceMonitor["spec"]["endpoints"][number];
