/** Validation of ResourceQuotas, in the words of upstream. */
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { immutableDetail, invalidValue, required } from "../field-errors.ts";
import { type JsonObject, objectAt, objectsAt, sameJson, stringAt, valueAt } from "../json-fields.ts";
import { isQuotaResource, resourceAmountErrors, resourceNameErrors } from "./resource-validation.ts";

const podCounts = ["pods"];
const podResources = [
  ...podCounts,
  ...["cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"],
];

/** What a quota of a scope can limit. */
const resourcesOfScope: ReadonlyMap<string, readonly string[]> = new Map([
  ["Terminating", podResources],
  ["NotTerminating", podResources],
  ["BestEffort", podCounts],
  ["NotBestEffort", podResources],
  ["PriorityClass", podResources],
  ["CrossNamespacePodAffinity", podResources],
  ["VolumeAttributesClass", ["persistentvolumeclaims", "requests.storage"]],
]);

/** Scopes that have no values. */
const plainScopes: ReadonlySet<string> = new Set(
  "BestEffort NotBestEffort Terminating NotTerminating CrossNamespacePodAffinity".split(" "),
);
const mustExist =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

export function validateQuota(
  quota: UnstructuredObject,
  old: UnstructuredObject | undefined,
  { subresource }: { readonly subresource: string },
): readonly FieldError[] {
  if (subresource === "status")
    return ["hard", "used"].flatMap((field) => amountErrors(objectAt(quota, "status", field), `status.${field}`));
  const spec = objectAt(quota, "spec");
  const hard = objectAt(spec, "hard");
  const errors = [...amountErrors(hard, "spec.hard"), ...scopeErrors(spec, Object.keys(hard))];
  const scopesOf = (object: unknown): unknown => [...namesAt(object, "spec", "scopes")].sort();
  if (old !== undefined && !sameJson(scopesOf(quota), scopesOf(old)))
    errors.push(invalidValue("spec.scopes", spec["scopes"], immutableDetail));
  return errors;
}

function amountErrors(amounts: JsonObject, at: string): readonly FieldError[] {
  return Object.entries(amounts).flatMap(([name, value]) => [
    ...quotaNameErrors(name, `${at}[${name}]`),
    ...resourceAmountErrors(name, value, `${at}[${name}]`),
  ]);
}

function quotaNameErrors(name: string, at: string): readonly FieldError[] {
  const errors = resourceNameErrors(name, at);
  if (name.includes("/") || isQuotaResource(name)) return errors;
  return [...errors, invalidValue(at, name, "must be a standard resource for quota")];
}

function namesAt(object: unknown, ...path: readonly string[]): readonly string[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function scopeErrors(spec: JsonObject, limited: readonly string[]): readonly FieldError[] {
  const at = "spec.scopes";
  const scopes = namesAt(spec, "scopes");
  const selected = objectsAt(spec, "scopeSelector", "matchExpressions");
  const unsupported = (detail: string): FieldError => invalidValue(at, scopes, detail);
  return [
    ...scopes.flatMap((scope) => [
      ...(resourcesOfScope.has(scope) ? [] : [unsupported("unsupported scope")]),
      ...misfits(scope, limited).map(() => unsupported("unsupported scope applied to resource")),
    ]),
    ...conflicts(scopes).map(() => unsupported("conflicting scopes")),
    ...selected.flatMap((expression) => expressionErrors(expression, spec, limited)),
    ...conflicts(selected.map((each) => stringAt(each, "scopeName"))).map(() =>
      invalidValue(at, spec["scopes"] ?? null, "conflicting scopes"),
    ),
  ];
}

/** What a quota limits although its scope does not have it. */
function misfits(scope: string, limited: readonly string[]): readonly string[] {
  const resources = resourcesOfScope.get(scope);
  return resources === undefined ? [] : limited.filter((name) => isQuotaResource(name) && !resources.includes(name));
}

function conflicts(scopes: readonly string[]): readonly string[] {
  return ["BestEffort", "Terminating"].filter((scope) => scopes.includes(scope) && scopes.includes(`Not${scope}`));
}

function expressionErrors(expression: JsonObject, spec: JsonObject, limited: readonly string[]): FieldError[] {
  const at = "spec.scopeSelector.matchExpressions";
  const scope = stringAt(expression, "scopeName");
  const operator = stringAt(expression, "operator");
  const errors: FieldError[] = [];
  if (!resourcesOfScope.has(scope)) errors.push(invalidValue(`${at}.scopeName`, scope, "unsupported scope"));
  for (const _name of misfits(scope, limited))
    errors.push(invalidValue(at, spec["scopeSelector"], "unsupported scope applied to resource"));
  if (plainScopes.has(scope) && operator !== "Exists") errors.push(invalidValue(`${at}.operator`, operator, mustExist));
  return [...errors, ...valueErrors(expression, operator, at)];
}

function valueErrors(expression: JsonObject, operator: string, at: string): readonly FieldError[] {
  const values = namesAt(expression, "values");
  if (operator === "In" || operator === "NotIn") {
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    return values.length === 0 ? [required(`${at}.values`, detail)] : [];
  }
  if (operator === "Exists" || operator === "DoesNotExist") {
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    return values.length === 0 ? [] : [invalidValue(`${at}.values`, values, detail)];
  }
  return [invalidValue(`${at}.operator`, operator, "not a valid selector operator")];
}
