/**
 * All objects that state scrapes, by their kinds: which ones a Prometheus selects, the keys that they
 * name, and which of them are valid.
 */
import type { KubeObject, Stored } from "setpoint";
import type { AssetKey } from "../generate/assets.ts";
import type { PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import type { ScrapeConfig } from "../kind/scrape-config.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import { checkPodMonitor, checkServiceMonitor } from "./check-monitor.ts";
import { checkProbe } from "./check-probe.ts";
import { checkScrapeConfig } from "./check-scrape-config.ts";
import type { CheckedBy } from "./check-scrape.ts";
import type { Refusal, Rejected } from "./refusal.ts";
import {
  keysOfClients,
  podMonitorClients,
  probeClients,
  scrapeConfigClients,
  serviceMonitorClients,
  type StatedClient,
} from "./scrape-clients.ts";
import { type Labelled, selected } from "./selection.ts";

export interface ScrapeObjects {
  readonly serviceMonitors: readonly Stored<ServiceMonitor>[];
  readonly podMonitors: readonly Stored<PodMonitor>[];
  readonly probes: readonly Stored<Probe>[];
  readonly scrapeConfigs: readonly Stored<ScrapeConfig>[];
}

/** What the operator needs to know of a kind that states scrapes. */
export interface ScrapeKind<T> {
  readonly clients: (object: T) => readonly StatedClient[];
  readonly check: (by: CheckedBy, object: T) => Refusal | undefined;
}

export const scrapeKinds = {
  ServiceMonitor: { clients: serviceMonitorClients, check: checkServiceMonitor },
  PodMonitor: { clients: podMonitorClients, check: checkPodMonitor },
  Probe: { clients: probeClients, check: checkProbe },
  ScrapeConfig: { clients: scrapeConfigClients, check: checkScrapeConfig },
} as const;

/** Those that the Prometheus selects; `namespaces` are those of the cluster. */
export function selectScrapeObjects(
  prometheus: AnyPrometheus,
  { serviceMonitors, podMonitors, probes, scrapeConfigs }: ScrapeObjects,
  namespaces: readonly Labelled[],
): ScrapeObjects {
  return {
    serviceMonitors: selected(prometheus, "ServiceMonitor", serviceMonitors, namespaces),
    podMonitors: selected(prometheus, "PodMonitor", podMonitors, namespaces),
    probes: selected(prometheus, "Probe", probes, namespaces),
    scrapeConfigs: selected(prometheus, "ScrapeConfig", scrapeConfigs, namespaces),
  };
}

/** The clients of one object, and the namespace of the keys that they name. */
export interface ClientsOfObject {
  readonly namespace: string;
  readonly clients: readonly StatedClient[];
}

export function clientsOfScrapeObjects({
  serviceMonitors,
  podMonitors,
  probes,
  scrapeConfigs,
}: ScrapeObjects): readonly ClientsOfObject[] {
  const of = <T extends KubeObject>(objects: readonly T[], { clients }: ScrapeKind<T>): readonly ClientsOfObject[] =>
    objects.map((object) => ({ namespace: object.metadata.namespace ?? "", clients: clients(object) }));
  return [
    ...of(serviceMonitors, scrapeKinds.ServiceMonitor),
    ...of(podMonitors, scrapeKinds.PodMonitor),
    ...of(probes, scrapeKinds.Probe),
    ...of(scrapeConfigs, scrapeKinds.ScrapeConfig),
  ];
}

/** The keys of Secrets and ConfigMaps that the objects name. */
export function keysOfScrapeObjects(objects: ScrapeObjects): readonly AssetKey[] {
  return clientsOfScrapeObjects(objects).flatMap(({ namespace, clients }) =>
    keysOfClients(namespace, clients).map(({ asset }) => asset),
  );
}

export interface CheckedObjects {
  readonly valid: ScrapeObjects;
  readonly rejected: readonly Rejected[];
}

export function checkScrapeObjects(by: CheckedBy, objects: ScrapeObjects): CheckedObjects {
  const serviceMonitors = checked(by, objects.serviceMonitors, scrapeKinds.ServiceMonitor);
  const podMonitors = checked(by, objects.podMonitors, scrapeKinds.PodMonitor);
  const probes = checked(by, objects.probes, scrapeKinds.Probe);
  const scrapeConfigs = checked(by, objects.scrapeConfigs, scrapeKinds.ScrapeConfig);
  return {
    valid: {
      serviceMonitors: serviceMonitors.valid,
      podMonitors: podMonitors.valid,
      probes: probes.valid,
      scrapeConfigs: scrapeConfigs.valid,
    },
    rejected: [serviceMonitors, podMonitors, probes, scrapeConfigs].flatMap(({ rejected }) => rejected),
  };
}

function checked<T extends KubeObject>(
  by: CheckedBy,
  objects: readonly Stored<T>[],
  { check }: ScrapeKind<T>,
): { readonly valid: readonly Stored<T>[]; readonly rejected: readonly Rejected[] } {
  const all = objects.map((object) => ({ object, refusal: check(by, object) }));
  return {
    valid: all.flatMap(({ object, refusal }) => (refusal === undefined ? [object] : [])),
    rejected: all.flatMap(({ object, refusal }) => (refusal === undefined ? [] : [{ object, refusal }])),
  };
}
