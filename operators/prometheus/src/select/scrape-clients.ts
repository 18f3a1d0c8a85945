/** The HTTP clients that the objects of each kind state, with the field of each. */
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import { type HttpFields, keysOf, type NamedKey } from "./check-http.ts";

export interface StatedClient {
  readonly field: string;
  readonly client: HttpFields;
}

export function serviceMonitorClients({ spec }: ServiceMonitor): readonly StatedClient[] {
  return spec.endpoints.map((client, index) => ({ field: `spec.endpoints[${index}]`, client }));
}

export function podMonitorClients({ spec }: PodMonitor): readonly StatedClient[] {
  const endpoints = spec.podMetricsEndpoints ?? [];
  return endpoints.map((client, index) => ({ field: `spec.podMetricsEndpoints[${index}]`, client }));
}

/** The proxy is that of the prober. */
export function probeClients({ spec }: Probe): readonly StatedClient[] {
  return [
    { field: "spec", client: spec },
    ...(spec.prober === undefined ? [] : [{ field: "spec.prober", client: spec.prober }]),
  ];
}

/** The keys of Secrets and ConfigMaps that clients name, of objects in `namespace`. */
export function keysOfClients(namespace: string, clients: readonly StatedClient[]): readonly NamedKey[] {
  return clients.flatMap(({ field, client }) =>
    keysOf(namespace, client).map((key) => ({ ...key, field: `${field}.${key.field}` })),
  );
}
