/** Which workloads use a monitor or rules, and whether they accept it; pure. */
import { monitoringGroup } from "../kind/monitoring-group.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import { type Refusal, refusalText } from "../select/refusal.ts";
import { type ConfigurationKind, type Labelled, type Selecting, selected } from "../select/selection.ts";

type Status = NonNullable<ServiceMonitor["status"]>;
export type Binding = NonNullable<Status["bindings"]>[number];

/** What the kinds with bindings have in common. */
export interface Bound extends Labelled {
  readonly metadata: Labelled["metadata"] & { readonly generation?: number };
  readonly status?: Status;
}

/** A workload that may use objects of one kind, and why it refuses one. */
export interface User<T> {
  readonly resource: "prometheuses" | "prometheusagents" | "thanosrulers";
  readonly workload: Selecting;
  readonly refusal: (object: T) => Refusal | undefined;
}

/** When and among what the objects are looked at. */
export interface BindingSources {
  readonly namespaces: readonly Labelled[];
  /** RFC 3339. */
  readonly now: string;
}

/** In the order of the users. The time of a condition stays while its status does. */
export function bindingsOf<T extends Bound>(
  kind: ConfigurationKind,
  object: T,
  users: readonly User<T>[],
  { namespaces, now }: BindingSources,
): readonly Binding[] {
  return users
    .filter(({ workload }) => selected(workload, kind, [object], namespaces).length > 0)
    .map(({ resource, workload, refusal }) => {
      const { name = "", namespace = "" } = workload.metadata;
      return acceptedBinding({ resource, name, namespace }, refusal(object), object, now);
    });
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
