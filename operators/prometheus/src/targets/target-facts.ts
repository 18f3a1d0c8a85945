/** Facts about one object that states scrapes, and about what it could scrape; no decisions. */
import type { PoolReport } from "../reload/pool-report.ts";
import type { Selector } from "../kind/scrape-fields.ts";

/** A port that a candidate has. */
export interface PortFacts {
  readonly name?: string | undefined;
  readonly number?: number | undefined;
}

/** A Service, pod or Ingress that the selector of the object is compared with. */
export interface Candidate {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly PortFacts[];
  /** Ports of the containers behind a Service; absent when nobody asked. */
  readonly containerPorts?: readonly PortFacts[];
  /** How many addresses it has; undefined when that is not known. */
  readonly addresses: number | undefined;
}

/** What one entry of the object asks for: Prometheus has one job for each. */
export interface StatedJob {
  /** Such as `spec.endpoints[0]`. */
  readonly field: string;
  /** The name of the job. */
  readonly pool: string;
  readonly port?: StatedPort;
  /** Whether relabelings of the user may drop targets. */
  readonly relabels: boolean;
}

export interface StatedPort {
  /** Such as `port`. */
  readonly field: string;
  readonly value: string | number;
  readonly of: "ports" | "containerPorts";
}

/** What is discovered by the API server. */
export interface Discovered {
  readonly noun: "Service" | "pod" | "Ingress";
  readonly selectorField: string;
  readonly selector: Selector;
  /** The names of the namespaces to look in; undefined for all. */
  readonly namespaces: readonly string[] | undefined;
}

/** What the API server has for `Discovered`. */
export interface DiscoveredFacts extends Discovered {
  /** Named namespaces that do not exist. */
  readonly missingNamespaces: readonly string[];
  readonly matching: readonly Candidate[];
  /** Some of those that do not match; only looked for when none matches. */
  readonly others: readonly Candidate[];
  /** Why it could not be read. */
  readonly unread?: string;
}

/** One Prometheus, seen from the object. */
export interface UserFacts {
  /** `NAMESPACE/NAME`. */
  readonly name: string;
  /** Why it does not select the object; undefined when it does. */
  readonly mismatch: string | undefined;
  /** Why it leaves the object out. */
  readonly refusal?: string | undefined;
  /** What its ServiceAccount may not do, such as `list services in namespace "shop"`. */
  readonly missingRights?: readonly string[] | undefined;
  readonly account?: string | undefined;
  /** By the name of the job; one that is absent was not answered. */
  readonly pools: ReadonlyMap<string, PoolReport>;
  /** Why there are no answers, such as that no pod is ready. */
  readonly silence?: string | undefined;
}

export interface TargetFacts {
  /** Such as `ServiceMonitor`. */
  readonly kind: string;
  readonly users: readonly UserFacts[];
  readonly jobs: readonly StatedJob[];
  /** Absent when the object names addresses itself. */
  readonly discovered?: DiscoveredFacts | undefined;
  /** Addresses that the object names itself. */
  readonly stated?: number | undefined;
  /** Fields that have Prometheus look for addresses outside of Kubernetes, such as `spec.dnsSDConfigs`. */
  readonly elsewhere?: readonly string[] | undefined;
}
