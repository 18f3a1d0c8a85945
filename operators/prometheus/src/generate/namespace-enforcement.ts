/** The label with the namespace that a Prometheus enforces on samples and rules. */
import { monitoringGroup } from "../kind/monitoring-group.ts";
import type { CommonPrometheusSpec } from "../kind/common-prometheus.ts";
import { given, type Section } from "./generation.ts";

/** What says on which objects the label is enforced. */
type Enforcing = Pick<CommonPrometheusSpec, "enforcedNamespaceLabel" | "excludedFromEnforcement">;

/** An object that gets the label, unless the Prometheus excludes it. */
export interface Enforced {
  readonly resource: "servicemonitors" | "podmonitors" | "probes" | "scrapeconfigs" | "prometheusrules";
  readonly namespace: string;
  readonly name: string;
}

/** Undefined when nothing is enforced on the object. */
export function enforcedLabel(spec: Enforcing, object: Enforced): string | undefined {
  const label = given(spec.enforcedNamespaceLabel);
  if (label === undefined) return undefined;
  const isExcluded = (spec.excludedFromEnforcement ?? []).some(
    ({ group, resource, namespace, name = "" }) =>
      group === monitoringGroup &&
      resource === object.resource &&
      namespace === object.namespace &&
      (name === "" || name === object.name),
  );
  return isExcluded ? undefined : label;
}

/** The last relabeling, so that nothing before it can change the label. */
export function enforcementStep(spec: Enforcing, object: Enforced): readonly Section[] {
  const label = enforcedLabel(spec, object);
  return label === undefined ? [] : [{ target_label: label, replacement: object.namespace }];
}
