/** Validation of HorizontalPodAutoscalers, in the words and the order of upstream. */
import {
  type FieldError,
  type UnstructuredObject,
  validateDns1123Label,
  validatePathSegment,
} from "@setpoint/apimachinery";
import { forbidden, invalidValue, notSupported, required } from "../field-errors.ts";
import { isJsonObject, type JsonObject, numberAt, objectAt, objectsAt, stringAt, textOf } from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";
import { containerResourceNameErrors } from "./resource-validation.ts";

const metricTypes = ["ContainerResource", "External", "Object", "Pods", "Resource"];
const targetTypes = ["Utilization", "Value", "AverageValue"];
const selectPolicies = ["Disabled", "Max", "Min"];
const policyTypes = ["Percent", "Pods"];
const stabilizationSecondsMax = 3600;
const periodSecondsMax = 1800;

export function validateAutoscaler(
  autoscaler: UnstructuredObject,
  _old: UnstructuredObject | undefined,
  { subresource }: { readonly subresource: string },
): readonly FieldError[] {
  if (subresource === "status") return [];
  const spec = objectAt(autoscaler, "spec");
  return [
    ...replicaErrors(spec),
    ...referenceErrors(objectAt(spec, "scaleTargetRef"), "spec.scaleTargetRef"),
    ...metricsErrors(autoscaler, numberAt(spec, "minReplicas")),
    ...utilizationErrors(spec["targetCPUUtilizationPercentage"], "spec.metrics[0].resource.target.averageUtilization"),
    ...["scaleUp", "scaleDown"].flatMap((direction) => rulesErrors(spec, direction)),
  ];
}

function replicaErrors(spec: JsonObject): readonly FieldError[] {
  const min = numberAt(spec, "minReplicas");
  const max = numberAt(spec, "maxReplicas") ?? 0;
  const at = "spec.maxReplicas";
  const errors: FieldError[] = [];
  if (min !== undefined && min < 1)
    errors.push(invalidValue("spec.minReplicas", min, "must be greater than or equal to 1"));
  if (max === 0) errors.push(required(at, "must be set and greater than 0"));
  else if (max < 0) errors.push(invalidValue(at, max, "must be greater than or equal to 1"));
  if (min !== undefined && max < min)
    errors.push(invalidValue(at, max, "must be greater than or equal to `minReplicas`"));
  return errors;
}

function segmentErrors(object: JsonObject, field: string, at: string, missing = ""): readonly FieldError[] {
  const text = stringAt(object, field);
  if (text === "") return [required(`${at}.${field}`, missing)];
  return validatePathSegment(text).map((fault) => invalidValue(`${at}.${field}`, text, fault));
}

function referenceErrors(reference: JsonObject, at: string): readonly FieldError[] {
  const apiVersion = stringAt(reference, "apiVersion");
  const parts = apiVersion.split("/");
  const problem =
    parts.length > 2
      ? `unexpected GroupVersion string: ${apiVersion}`
      : parts.length < 2 || parts[0] === ""
        ? "apiVersion must specify API group"
        : undefined;
  return [
    ...segmentErrors(reference, "kind", at),
    ...segmentErrors(reference, "name", at),
    ...(problem === undefined ? [] : [invalidValue(`${at}.apiVersion`, apiVersion, problem)]),
  ];
}

function metricsErrors(autoscaler: UnstructuredObject, minReplicas: number | undefined): readonly FieldError[] {
  const metrics = objectsAt(autoscaler, "spec", "metrics");
  const errors = metrics.flatMap((metric, index) => metricErrors(metric, `spec.metrics[${index}]`));
  const measuresElsewhere = metrics.some(({ type }) => type === "Object" || type === "External");
  if (minReplicas !== 0 || measuresElsewhere) return errors;
  const detail = "must specify at least one Object or External metric to support scaling to zero replicas";
  return [...errors, forbidden("spec.metrics", detail)];
}

/** The sources in the order in which upstream looks for them: the first is checked, others are too many. */
const sources = {
  object: objectErrors,
  external: externalErrors,
  pods: podsErrors,
  resource: resourceErrors,
  containerResource: containerResourceErrors,
} as const;

function metricErrors(metric: JsonObject, at: string): readonly FieldError[] {
  const type = stringAt(metric, "type");
  const isKnown = metricTypes.includes(type);
  const unknown = isKnown ? [] : [notSupported(`${at}.type`, type, metricTypes)];
  const errors: FieldError[] = type === "" ? [required(`${at}.type`, "must specify a metric source type")] : [];
  errors.push(...unknown);
  const present = Object.entries(sources).filter(([source]) => isJsonObject(metric[source]));
  const [first] = present;
  if (first !== undefined) errors.push(...first[1](objectAt(metric, first[0]), `${at}.${first[0]}`));
  const expected = `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
  if (isKnown && !isJsonObject(metric[expected]))
    errors.push(required(`${at}.${expected}`, "must populate information for the given metric source"));
  errors.push(...unknown);
  if (present.length === 1) return errors;
  const others = present.filter(([source]) => source !== expected);
  return [
    ...errors,
    ...others.map(([source]) => forbidden(`${at}.${source}`, "must populate the given metric source only")),
  ];
}

function identifierErrors(source: JsonObject, at: string): readonly FieldError[] {
  return segmentErrors(objectAt(source, "metric"), "name", `${at}.metric`, "must specify a metric name");
}

function objectErrors(source: JsonObject, at: string): readonly FieldError[] {
  const { value, averageValue } = objectAt(source, "target");
  const isMissing = value === undefined && averageValue === undefined;
  return [
    ...referenceErrors(objectAt(source, "describedObject"), `${at}.describedObject`),
    ...identifierErrors(source, at),
    ...targetErrors(source, at),
    ...(isMissing ? [required(`${at}.target.averageValue`, "must set either a target value or averageValue")] : []),
  ];
}

function externalErrors(source: JsonObject, at: string): readonly FieldError[] {
  const { value, averageValue } = objectAt(source, "target");
  const errors = [...identifierErrors(source, at), ...targetErrors(source, at)];
  if (value === undefined && averageValue === undefined)
    errors.push(required(`${at}.target.averageValue`, "must set either a target value for metric or a per-pod target"));
  if (value !== undefined && averageValue !== undefined)
    errors.push(forbidden(`${at}.target.value`, "may not set both a target value for metric and a per-pod target"));
  return errors;
}

function podsErrors(source: JsonObject, at: string): readonly FieldError[] {
  const isMissing = objectAt(source, "target")["averageValue"] === undefined;
  return [
    ...identifierErrors(source, at),
    ...targetErrors(source, at),
    ...(isMissing ? [required(`${at}.target.averageValue`, "must specify a positive target averageValue")] : []),
  ];
}

function resourceErrors(source: JsonObject, at: string): readonly FieldError[] {
  const isNamed = stringAt(source, "name") !== "";
  return [...(isNamed ? [] : [required(`${at}.name`, "must specify a resource name")]), ...usageErrors(source, at)];
}

function containerResourceErrors(source: JsonObject, at: string): readonly FieldError[] {
  const name = stringAt(source, "name");
  const container = stringAt(source, "container");
  return [
    ...(name === ""
      ? [required(`${at}.name`, "must specify a resource name")]
      : containerResourceNameErrors(name, `${at}.name`)),
    ...(container === ""
      ? [required(`${at}.container`, "must specify a container")]
      : validateDns1123Label(container).map((fault) => invalidValue(`${at}.container`, container, fault))),
    ...usageErrors(source, at),
  ];
}

function usageErrors(source: JsonObject, at: string): readonly FieldError[] {
  const { averageUtilization, averageValue } = objectAt(source, "target");
  const errors = [...targetErrors(source, at)];
  if (averageUtilization === undefined && averageValue === undefined)
    errors.push(
      required(`${at}.target.averageUtilization`, "must set either a target raw value or a target utilization"),
    );
  if (averageUtilization !== undefined && averageValue !== undefined)
    errors.push(forbidden(`${at}.target.averageValue`, "may not set both a target raw value and a target utilization"));
  return errors;
}

function targetErrors(source: JsonObject, sourceAt: string): readonly FieldError[] {
  const target = objectAt(source, "target");
  const at = `${sourceAt}.target`;
  const type = stringAt(target, "type");
  const errors: FieldError[] = type === "" ? [required(`${at}.type`, "must specify a metric target type")] : [];
  if (!targetTypes.includes(type))
    errors.push(invalidValue(`${at}.type`, type, "must be either Utilization, Value, or AverageValue"));
  for (const field of ["value", "averageValue"]) {
    const quantity = target[field];
    if (quantity !== undefined && (quantityNanos(textOf(quantity)) ?? 0n) <= 0n)
      errors.push(invalidValue(`${at}.${field}`, quantity, "must be positive"));
  }
  return [...errors, ...utilizationErrors(target["averageUtilization"], `${at}.averageUtilization`)];
}

/** Version 1 has the first metric's target in a field of its own. */
function utilizationErrors(utilization: unknown, at: string): readonly FieldError[] {
  if (typeof utilization !== "number" || utilization >= 1) return [];
  return [invalidValue(at, utilization, "must be greater than 0")];
}

function rulesErrors(spec: JsonObject, direction: string): readonly FieldError[] {
  const behavior = objectAt(spec, "behavior");
  if (!isJsonObject(behavior[direction])) return [];
  const rules = objectAt(behavior, direction);
  const at = `spec.behavior.${direction}`;
  const errors: FieldError[] = [...secondsErrors(rules, "stabilizationWindowSeconds", 0, stabilizationSecondsMax, at)];
  const selected = rules["selectPolicy"];
  if (selected !== undefined && !selectPolicies.includes(textOf(selected)))
    errors.push(notSupported(`${at}.selectPolicy`, selected, selectPolicies));
  const policies = objectsAt(rules, "policies");
  if (policies.length === 0) errors.push(required(`${at}.policies`, "must specify at least one Policy"));
  errors.push(...policies.flatMap((policy, index) => policyErrors(policy, `${at}.policies[${index}]`)));
  const { tolerance } = rules;
  if (tolerance !== undefined && (quantityNanos(textOf(tolerance)) ?? 0n) < 0n)
    errors.push(invalidValue(`${at}.tolerance`, tolerance, "must be greater than or equal to 0"));
  return errors;
}

function policyErrors(policy: JsonObject, at: string): readonly FieldError[] {
  const type = stringAt(policy, "type");
  const errors: FieldError[] = policyTypes.includes(type) ? [] : [notSupported(`${at}.type`, type, policyTypes)];
  const value = numberAt(policy, "value") ?? 0;
  if (value <= 0) errors.push(invalidValue(`${at}.value`, value, "must be greater than zero"));
  return [...errors, ...secondsErrors({ periodSeconds: 0, ...policy }, "periodSeconds", 1, periodSecondsMax, at)];
}

function secondsErrors(object: JsonObject, field: string, min: 0 | 1, max: number, at: string): readonly FieldError[] {
  const seconds = numberAt(object, field);
  if (seconds === undefined) return [];
  const least = min === 0 ? "greater than or equal to zero" : "greater than zero";
  if (seconds < min) return [invalidValue(`${at}.${field}`, seconds, `must be ${least}`)];
  return seconds > max ? [invalidValue(`${at}.${field}`, seconds, `must be less than or equal to ${max}`)] : [];
}
