/** What each kind that states scrapes asks for: its jobs, and what is discovered for them; pure. */
import { given } from "../generate/generation.ts";
import type { PodEndpoint, PodMonitor } from "../kind/pod-monitor.ts";
import type { Probe } from "../kind/probe.ts";
import type { NamespaceSelector } from "../kind/scrape-fields.ts";
import { discoveries } from "../kind/discovery-table.ts";
import type { ScrapeConfig } from "../kind/scrape-config.ts";
import type { ServiceEndpoint, ServiceMonitor } from "../kind/service-monitor.ts";
import type { Discovered, StatedJob, StatedPort } from "./target-facts.ts";

export interface StatedTargets {
  readonly jobs: readonly StatedJob[];
  readonly discovered?: Discovered;
  /** Of the object itself, instead of that of the Prometheus. */
  readonly discoveryRole?: string | undefined;
  /** How many addresses the object names itself. */
  readonly stated?: number;
  /** Fields that have Prometheus look for addresses outside of Kubernetes. */
  readonly elsewhere?: readonly string[];
}

/** A further kind that states scrapes is one more entry. */
export const statedTargets = {
  ServiceMonitor: ({ metadata, spec }: ServiceMonitor): StatedTargets => ({
    jobs: spec.endpoints.map((endpoint, index) => ({
      ...jobOf("spec.endpoints", endpoint, index, `serviceMonitor/${keyOf(metadata)}`),
      ...withPort(servicePort(endpoint)),
    })),
    discoveryRole: spec.serviceDiscoveryRole,
    discovered: {
      ...{ noun: "Service", selectorField: "spec.selector", selector: spec.selector },
      namespaces: namespacesOf(metadata.namespace, spec.namespaceSelector),
    },
  }),
  PodMonitor: ({ metadata, spec }: PodMonitor): StatedTargets => ({
    jobs: (spec.podMetricsEndpoints ?? []).map((endpoint, index) => ({
      ...jobOf("spec.podMetricsEndpoints", endpoint, index, `podMonitor/${keyOf(metadata)}`),
      ...withPort(podPort(endpoint)),
    })),
    discovered: {
      ...{ noun: "pod", selectorField: "spec.selector", selector: spec.selector },
      namespaces: namespacesOf(metadata.namespace, spec.namespaceSelector),
    },
  }),
  Probe: ({ metadata, spec }: Probe): StatedTargets => {
    const { staticConfig, ingress } = spec.targets ?? {};
    const relabels = (staticConfig ?? ingress)?.relabelingConfigs ?? [];
    const job = { field: "spec.targets", pool: `probe/${keyOf(metadata)}`, relabels: relabels.length > 0 };
    if (staticConfig !== undefined || ingress === undefined)
      return { jobs: [job], stated: staticConfig?.static?.length ?? 0 };
    return {
      jobs: [job],
      discovered: {
        ...{ noun: "Ingress", selectorField: "spec.targets.ingress.selector", selector: ingress.selector ?? {} },
        namespaces: namespacesOf(metadata.namespace, ingress.namespaceSelector),
      },
    };
  },
  ScrapeConfig: ({ metadata, spec }: ScrapeConfig): StatedTargets => {
    const field = "spec";
    const job = { field, pool: `scrapeConfig/${keyOf(metadata)}`, relabels: (spec.relabelings ?? []).length > 0 };
    const stated = (spec.staticConfigs ?? []).reduce((sum, { targets }) => sum + targets.length, 0);
    const elsewhere = discoveries.map(([name]) => name).filter((name) => spec[name] !== undefined);
    return { jobs: [job], stated, elsewhere: elsewhere.map((name) => `${field}.${name}`) };
  },
} as const;

export type TargetKind = keyof typeof statedTargets;

function keyOf({ namespace = "", name = "" }: ServiceMonitor["metadata"]): string {
  return `${namespace}/${name}`;
}

function jobOf(
  field: string,
  { relabelings = [] }: ServiceEndpoint | PodEndpoint,
  index: number,
  pool: string,
): Pick<StatedJob, "field" | "pool" | "relabels"> {
  return { field: `${field}[${index}]`, pool: `${pool}/${index}`, relabels: relabelings.length > 0 };
}

function withPort(port: StatedPort | undefined): { readonly port?: StatedPort } {
  return port === undefined ? {} : { port };
}

/** The order is that of the generated configuration. */
function servicePort({ port, targetPort }: ServiceEndpoint): StatedPort | undefined {
  const name = given(port);
  return name === undefined ? portOf("targetPort", targetPort, "containerPorts") : portOf("port", name, "ports");
}

function podPort({ port, portNumber, targetPort }: PodEndpoint): StatedPort | undefined {
  return (
    portOf("port", port, "ports") ??
    portOf("portNumber", portNumber, "ports") ??
    portOf("targetPort", targetPort, "ports")
  );
}

function portOf(field: string, value: string | number | undefined, of: StatedPort["of"]): StatedPort | undefined {
  return value === undefined || value === "" || value === 0 ? undefined : { field, value, of };
}

/** Undefined for all namespaces. */
function namespacesOf(
  own = "",
  { any = false, matchNames = [] }: NamespaceSelector = {},
): readonly string[] | undefined {
  if (any) return undefined;
  return matchNames.length === 0 ? [own] : matchNames;
}
