/** What Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs share: selectors, templates, counts. */
import { type FieldError, matchesLabelSelector, type UnstructuredObject } from "@setpoint/apimachinery";
import { immutableDetail, invalidValue, notSupported, required } from "../field-errors.ts";
import { isJsonObject, objectAt, sameJson, stringAt, valueAt } from "../json-fields.ts";
import { podSpecErrors } from "./pod-validation.ts";

/** A selector that fits the template, a valid pod, a sensible number of replicas. */
export function workloadErrors(workload: UnstructuredObject): readonly FieldError[] {
  const isStatefulSet = workload.kind === "StatefulSet";
  const template = objectAt(workload, "spec", "template");
  return [
    ...selectorValueErrors(workload.kind, valueAt(workload, "spec", "selector")),
    ...labelMismatch(valueAt(workload, "spec", "selector"), template),
    // As upstream: the template of a StatefulSet mounts claims that only its pods have, so its pods are
    // judged.
    ...(isStatefulSet ? [] : podSpecErrors(objectAt(template, "spec"), "spec.template.spec")),
    ...restartErrors(stringAt(template, "spec", "restartPolicy")),
    ...["replicas", "minReadySeconds", ...(isStatefulSet ? [] : ["revisionHistoryLimit"])].flatMap((field) =>
      negativeErrors(valueAt(workload, "spec", field), `spec.${field}`),
    ),
  ];
}

/** Upstream names a ReplicaSet a deployment here, and asks no DaemonSet for a selector. */
function selectorValueErrors(kind: string, selector: unknown): readonly FieldError[] {
  if (!isJsonObject(selector)) return kind === "DaemonSet" ? [] : [required("spec.selector")];
  const noun = kind === "ReplicaSet" ? "deployment" : kind.toLowerCase();
  const isEmpty = Object.keys(selector).length === 0;
  return isEmpty ? [invalidValue("spec.selector", {}, `empty selector is invalid for ${noun}`)] : [];
}

/** An empty selector is refused elsewhere; none selects nothing. */
export function labelMismatch(selector: unknown, template: unknown): readonly FieldError[] {
  const labels = objectAt(template, "metadata", "labels");
  const isEmpty = isJsonObject(selector) && Object.keys(selector).length === 0;
  const selects = isJsonObject(selector) && matchesLabelSelector(selector, labels as Record<string, string>);
  if (isEmpty || selects) return [];
  const shown = Object.keys(labels).length === 0 ? null : labels;
  return [invalidValue("spec.template.metadata.labels", shown, "`selector` does not match template `labels`")];
}

export function restartErrors(policy: string): readonly FieldError[] {
  if (policy === "" || policy === "Always") return [];
  return [notSupported("spec.template.spec.restartPolicy", policy, ["Always"])];
}

export function negativeErrors(value: unknown, at: string): readonly FieldError[] {
  const isNegative = typeof value === "number" && value < 0;
  return isNegative ? [invalidValue(at, value, "must be greater than or equal to 0")] : [];
}

export function selectorErrors(
  workload: UnstructuredObject,
  old: UnstructuredObject | undefined,
): readonly FieldError[] {
  if (old === undefined) return [];
  const selector = valueAt(workload, "spec", "selector");
  return sameJson(selector, valueAt(old, "spec", "selector"))
    ? []
    : [invalidValue("spec.selector", selector, immutableDetail)];
}
