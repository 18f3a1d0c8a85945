/** The HTTP clients that the objects of each kind state, with the field of each. */
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { DiscoveryFieldType } from "../kind/discovery-table.ts";
import type { KeySelector } from "../kind/references.ts";
import { discoveriesOf, discoveryClientOf, type ScrapeConfig, type StatedDiscovery } from "../kind/scrape-config.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import { assetKey } from "../generate/assets.ts";
import { type HttpFields, keysOf, type NamedKey } from "./check-http.ts";

export interface StatedClient {
  readonly field: string;
  readonly client: HttpFields;
  /** Other keys of Secrets, by their fields. */
  readonly secrets?: Readonly<Record<string, KeySelector>>;
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

/** That of the scrapes, and those of the discoveries. */
export function scrapeConfigClients(object: ScrapeConfig): readonly StatedClient[] {
  const own = { field: "spec", client: object.spec };
  const others = discoveriesOf(object).map((stated) => ({
    field: stated.field,
    client: discoveryClientOf(stated),
    secrets: secretsOf(stated),
  }));
  return [own, ...others];
}

/** Keys that only one discovery has, such as a token. */
function secretsOf({ definition, config }: StatedDiscovery): Readonly<Record<string, KeySelector>> {
  const isKey = (type: DiscoveryFieldType): boolean => type === "secret" || type === "keyPair";
  const names = Object.keys(definition.fields).filter((name) => isKey(definition.fields[name]?.type ?? "text"));
  const given = names.filter((name) => config[name] !== undefined);
  // The schema, which is made of the same table, has checked the types.
  return Object.fromEntries(given.map((name) => [name, config[name] as KeySelector]));
}

/** The keys of Secrets and ConfigMaps that clients name, of objects in `namespace`. */
export function keysOfClients(namespace: string, clients: readonly StatedClient[]): readonly NamedKey[] {
  return clients.flatMap(({ field, client, secrets = {} }) => [
    ...keysOf(namespace, client).map((key) => ({ ...key, field: `${field}.${key.field}` })),
    ...Object.entries(secrets).map(([name, key]) => ({
      field: `${field}.${name}`,
      asset: assetKey("Secret", namespace, key),
      isOptional: key.optional === true,
    })),
  ]);
}
