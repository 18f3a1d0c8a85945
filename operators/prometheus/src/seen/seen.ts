/** One snapshot of a Prometheus and of everything that its configuration is made of. */
import type { Stored } from "setpoint";
import type { DaemonSet, Namespace, StatefulSet } from "setpoint/kinds";
import type { Assets } from "../generate/assets.ts";
import type { AnyPrometheus, Prometheus } from "../kind/prometheus.ts";
import type { PrometheusAgent } from "../kind/prometheus-agent.ts";
import type { PrometheusRule } from "../kind/prometheus-rule.ts";
import type { LoadedReport } from "../reload/reloader.ts";
import type { ScrapeObjects } from "../select/scrape-objects.ts";

/** What an agent and a server have in common: all objects of scrapes that it selects, valid or not. */
export interface ScrapingSeen extends ScrapeObjects {
  readonly prometheus: AnyPrometheus;
  readonly namespaces: readonly Stored<Namespace>[];
  /** The keys that the objects name, as far as they exist. */
  readonly assets: Assets;
  readonly statefulSets: readonly Stored<StatefulSet>[];
  readonly pods: readonly SeenPod[];
  /** Whether the Secret with the configuration exists, or is the operator's to make. */
  readonly hasConfiguration: boolean;
}

export interface Seen extends ScrapingSeen {
  readonly prometheus: Stored<Prometheus>;
  readonly rules: readonly Stored<PrometheusRule>[];
  /** Whether any Prometheus of the namespace has a sidecar of Thanos: they share a Service. */
  readonly hasSidecars?: boolean;
}

export interface AgentSeen extends ScrapingSeen {
  readonly prometheus: Stored<PrometheusAgent>;
  readonly daemonSets: readonly Stored<DaemonSet>[];
}

export interface SeenPod {
  readonly name: string;
  readonly isReady: boolean;
  /** Undefined when its reloader does not answer. */
  readonly loaded: LoadedReport | undefined;
}
