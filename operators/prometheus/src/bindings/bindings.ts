/** Which Prometheuses use a monitor or rules, and whether they accept it; pure. */
import { given } from "../generate/generation.ts";
import { defaultPrometheusVersion, parseVersion, type Version } from "../generate/version.ts";
import type { Assets } from "../generate/assets.ts";
import { monitoringGroup } from "../kind/monitoring-group.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import type { CheckedBy } from "../select/check-scrape.ts";
import { type Refusal, refusalText } from "../select/refusal.ts";
import { type ConfigurationKind, isManaged, type Labelled, selected } from "../select/selection.ts";

type Status = NonNullable<ServiceMonitor["status"]>;
export type Binding = NonNullable<Status["bindings"]>[number];

/** What the kinds with bindings have in common. */
export interface Bound extends Labelled {
  readonly metadata: Labelled["metadata"] & { readonly generation?: number };
  readonly status?: Status;
}

/** A Prometheus whose version is none accepts nothing. */
export interface Judge extends CheckedBy {
  readonly prometheus: Prometheus;
}

export interface BindingSources {
  readonly prometheuses: readonly Prometheus[];
  readonly namespaces: readonly Labelled[];
  readonly assets: Assets;
  /** RFC 3339. */
  readonly now: string;
}

/** In the order of their names. The time of a condition stays while its status does. */
export function bindingsOf<T extends Bound>(
  kind: ConfigurationKind,
  object: T,
  sources: BindingSources,
  check: (judge: Judge, object: T) => Refusal | undefined,
): readonly Binding[] {
  return sources.prometheuses
    .filter((prometheus) => uses(prometheus, kind, object, sources.namespaces))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((prometheus) => bindingOf(prometheus, object, sources, check));
}

function keyOf({ metadata }: Prometheus): string {
  return `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

/** Without a selector of targets, a Prometheus uses rules alone. */
function uses(
  prometheus: Prometheus,
  kind: ConfigurationKind,
  object: Bound,
  namespaces: readonly Labelled[],
): boolean {
  const mayUse = kind === "PrometheusRule" || isManaged(prometheus.spec);
  return mayUse && selected(prometheus, kind, [object], namespaces).length > 0;
}

function bindingOf<T extends Bound>(
  prometheus: Prometheus,
  object: T,
  { assets, now }: BindingSources,
  check: (judge: Judge, object: T) => Refusal | undefined,
): Binding {
  const { name = "", namespace = "" } = prometheus.metadata;
  const version = versionOf(prometheus);
  const refusal =
    version === undefined
      ? { field: "spec.version", message: `Prometheus "${namespace}/${name}" has a version that is none` }
      : check({ prometheus, spec: prometheus.spec, version, assets }, object);
  return acceptedBinding({ resource: "prometheuses", name, namespace }, refusal, object, now);
}

/** Without a refusal, the workload has accepted the object. */
export function acceptedBinding(
  { resource, name, namespace }: Pick<Binding, "resource" | "name" | "namespace">,
  refusal: Refusal | undefined,
  object: Bound,
  now: string,
): Binding {
  const before = object.status?.bindings?.find(
    (each) => each.resource === resource && each.name === name && each.namespace === namespace,
  );
  return {
    ...{ group: monitoringGroup, resource, name, namespace },
    conditions: [accepted(refusal, object, before?.conditions?.[0], now)],
  };
}

type Accepted = NonNullable<Binding["conditions"]>[number];

function accepted(
  refusal: Refusal | undefined,
  { metadata }: Bound,
  before: Accepted | undefined,
  now: string,
): Accepted {
  const status = refusal === undefined ? "True" : "False";
  return {
    type: "Accepted",
    status,
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : now,
    reason: refusal === undefined ? "Valid" : "InvalidConfiguration",
    message: refusal === undefined ? "It is part of the configuration" : refusalText(refusal),
  };
}

function versionOf({ spec }: Prometheus): Version | undefined {
  return parseVersion(given(spec.version) ?? defaultPrometheusVersion);
}
