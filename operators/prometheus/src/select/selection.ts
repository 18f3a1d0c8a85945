/**
 * Which monitors and rules a Prometheus selects; pure. A selector that is absent selects nothing, an empty
 * one everything. An absent namespace selector means the namespace of the Prometheus.
 */
import { matchesLabelSelector } from "setpoint/kinds";
import type { Selector } from "../kind/scrape-fields.ts";

export interface Labelled {
  readonly metadata: {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** Which selectors of a workload are for which kind. */
const selectors = {
  ServiceMonitor: ["serviceMonitorSelector", "serviceMonitorNamespaceSelector"],
  PodMonitor: ["podMonitorSelector", "podMonitorNamespaceSelector"],
  Probe: ["probeSelector", "probeNamespaceSelector"],
  ScrapeConfig: ["scrapeConfigSelector", "scrapeConfigNamespaceSelector"],
  PrometheusRule: ["ruleSelector", "ruleNamespaceSelector"],
} as const;

export type ConfigurationKind = keyof typeof selectors;

/** The fields of a workload that select objects of the kind, and the namespaces to look in. */
export function selectorFields<Kind extends ConfigurationKind>(kind: Kind): (typeof selectors)[Kind] {
  return selectors[kind];
}

/** A workload with selectors; one that lacks those of a kind selects none of it. */
export interface Selecting extends Labelled {
  readonly spec: { readonly [Name in (typeof selectors)[ConfigurationKind][number]]?: Selector | undefined };
}

/**
 * The objects of one kind that the workload selects, in the order of their names. `namespaces` are those of
 * the cluster.
 */
export function selected<T extends Labelled>(
  workload: Selecting,
  kind: ConfigurationKind,
  objects: readonly T[],
  namespaces: readonly Labelled[],
): readonly T[] {
  const [ofObjects, ofNamespaces] = selectors[kind];
  const by = { objects: workload.spec[ofObjects], namespaces: workload.spec[ofNamespaces] };
  return selectedBy(workload, by, objects, namespaces);
}

/** The selectors of a workload for one kind. */
export interface Selectors {
  readonly objects: Selector | undefined;
  readonly namespaces: Selector | undefined;
}

export function selectedBy<T extends Labelled>(
  owner: Labelled,
  { objects: selector, namespaces: ofNamespaces }: Selectors,
  objects: readonly T[],
  namespaces: readonly Labelled[],
): readonly T[] {
  if (selector === undefined) return [];
  const names = namespaceNames(owner, ofNamespaces, namespaces);
  const found = objects.filter(
    ({ metadata }) => names.has(metadata.namespace ?? "") && matchesLabelSelector(selector, metadata.labels ?? {}),
  );
  return found.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ metadata }: Labelled): string {
  return `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

function namespaceNames(
  { metadata }: Labelled,
  selector: Selector | undefined,
  namespaces: readonly Labelled[],
): ReadonlySet<string> {
  if (selector === undefined) return new Set([metadata.namespace ?? ""]);
  const matching = namespaces.filter((namespace) => matchesLabelSelector(selector, namespace.metadata.labels ?? {}));
  return new Set(matching.map((namespace) => namespace.metadata.name ?? ""));
}

/** Without any selector of targets, the user writes the configuration into the Secret. */
export function isManaged(spec: Selecting["spec"] & { readonly scrapeConfigSelector?: Selector | undefined }): boolean {
  return [spec.serviceMonitorSelector, spec.podMonitorSelector, spec.probeSelector, spec.scrapeConfigSelector].some(
    (selector) => selector !== undefined,
  );
}
