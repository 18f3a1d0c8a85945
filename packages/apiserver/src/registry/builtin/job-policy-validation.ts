/** Policies of Jobs: which failures end a Job, which indexes make it a success, and the bounds of both. */
import { type FieldError, validateQualifiedName } from "@setpoint/apimachinery";
import { duplicate, invalidValue, notSupported, required } from "../field-errors.ts";
import { isJsonObject, type JsonObject, numberAt, objectAt, objectsAt, stringAt } from "../json-fields.ts";
import { negativeErrors } from "./workload-validation.ts";

const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];
const replacementPolicies = ["Failed", "TerminatingOrFailed"];
const domainPath = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/.+$/;

/** `spec` is that of a Job or of a CronJob's template, which is at `at`. */
export function jobPolicyErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const { podReplacementPolicy } = spec;
  const isKnown = podReplacementPolicy === undefined || replacementPolicies.includes(String(podReplacementPolicy));
  return [
    ...failedIndexErrors(spec, at),
    ...managerErrors(stringAt(spec, "managedBy"), `${at}.managedBy`),
    ...failurePolicyErrors(spec, `${at}.podFailurePolicy`),
    ...successPolicyErrors(spec, `${at}.successPolicy`),
    ...(isKnown ? [] : [notSupported(`${at}.podReplacementPolicy`, podReplacementPolicy, replacementPolicies)]),
  ];
}

function failedIndexErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const { maxFailedIndexes, backoffLimitPerIndex, completionMode = "NonIndexed" } = spec;
  const errors: FieldError[] = [...negativeErrors(maxFailedIndexes, `${at}.maxFailedIndexes`)];
  const completions = numberAt(spec, "completions");
  const most = numberAt(spec, "maxFailedIndexes");
  if (most !== undefined && backoffLimitPerIndex === undefined)
    errors.push(required(`${at}.backoffLimitPerIndex`, "when maxFailedIndexes is specified"));
  if (completionMode === "Indexed") {
    if (most !== undefined && completions !== undefined && most > completions)
      errors.push(invalidValue(`${at}.maxFailedIndexes`, most, "must be less than or equal to completions"));
  } else if (completionMode !== "NonIndexed")
    errors.push(notSupported(`${at}.completionMode`, completionMode, ["NonIndexed", "Indexed"]));
  else if (most !== undefined)
    errors.push(invalidValue(`${at}.maxFailedIndexes`, most, "requires indexed completion mode"));
  return errors;
}

function managerErrors(name: string, at: string): readonly FieldError[] {
  if (name === "" || domainPath.test(name)) return [];
  return [invalidValue(at, name, 'must be a domain-prefixed path (such as "acme.io/foo")')];
}

function failurePolicyErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const pod = objectAt(spec, "template", "spec");
  const containers = [...objectsAt(pod, "containers"), ...objectsAt(pod, "initContainers")];
  const names = containers.map((each) => stringAt(each, "name"));
  const rules = objectsAt(spec, "podFailurePolicy", "rules");
  return rules.flatMap((rule, index) => failureRuleErrors(rule, `${at}.rules[${index}]`, { spec, names }));
}

interface JobOfRule {
  readonly spec: JsonObject;
  /** Of its containers. */
  readonly names: readonly string[];
}

function failureRuleErrors(rule: JsonObject, at: string, job: JobOfRule): readonly FieldError[] {
  const { onExitCodes } = rule;
  const conditions = objectsAt(rule, "onPodConditions");
  const hasCodes = isJsonObject(onExitCodes);
  const errors = [...actionErrors(stringAt(rule, "action"), `${at}.action`, job.spec)];
  if (hasCodes) errors.push(...exitCodeErrors(onExitCodes, `${at}.onExitCodes`, job.names));
  errors.push(...conditions.flatMap((each, index) => conditionErrors(each, `${at}.onPodConditions[${index}]`)));
  if (hasCodes && conditions.length > 0)
    errors.push(invalidWhole(at, "specifying both OnExitCodes and OnPodConditions is not supported"));
  if (!hasCodes && conditions.length === 0)
    errors.push(invalidWhole(at, "specifying one of OnExitCodes and OnPodConditions is required"));
  return errors;
}

/** An error about an object that is not shown. */
function invalidWhole(field: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, message: `Invalid value: ${detail}` };
}

function actionErrors(action: string, at: string, spec: JsonObject): readonly FieldError[] {
  if (action === "") return [required(at, `valid values: ${JSON.stringify(actions).replaceAll(",", " ")}`)];
  if (!actions.includes(action)) return [notSupported(at, action, actions)];
  const needsLimit = action === "FailIndex" && spec["backoffLimitPerIndex"] === undefined;
  return needsLimit ? [invalidValue(at, action, "requires the backoffLimitPerIndex to be set")] : [];
}

function exitCodeErrors(codes: JsonObject, at: string, names: readonly string[]): readonly FieldError[] {
  const operator = stringAt(codes, "operator");
  const name = codes["containerName"];
  const errors: FieldError[] = [];
  if (operator === "")
    errors.push(required(`${at}.operator`, `valid values: ${JSON.stringify(operators).replaceAll(",", " ")}`));
  else if (!operators.includes(operator)) errors.push(notSupported(`${at}.operator`, operator, operators));
  if (typeof name === "string" && !names.includes(name)) {
    const detail = "must be one of the container or initContainer names in the pod template";
    errors.push(invalidValue(`${at}.containerName`, name, detail));
  }
  const values = Array.isArray(codes["values"]) ? codes["values"].map(Number) : [];
  return [...errors, ...valueErrors(values, `${at}.values`, operator)];
}

function valueErrors(values: readonly number[], at: string, operator: string): readonly FieldError[] {
  if (values.length === 0) return [invalidValue(at, values, "at least one value is required")];
  const errors = values.flatMap((value, index) => [
    ...(operator === "In" && value === 0
      ? [invalidValue(`${at}[${index}]`, value, "must not be 0 for the In operator")]
      : []),
    ...(values.indexOf(value) < index ? [duplicate(`${at}[${index}]`, value)] : []),
  ]);
  const isOrdered = values.every((value, index) => index === 0 || (values[index - 1] ?? value) <= value);
  return isOrdered ? errors : [...errors, invalidValue(at, values, "must be ordered")];
}

function conditionErrors(condition: JsonObject, at: string): readonly FieldError[] {
  const type = stringAt(condition, "type");
  const status = stringAt(condition, "status");
  return [
    ...validateQualifiedName(type).map((fault) => invalidValue(`${at}.type`, type, fault)),
    ...(statuses.includes(status) ? [] : [notSupported(`${at}.status`, status, statuses)]),
  ];
}

function successPolicyErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const policy = spec["successPolicy"];
  if (!isJsonObject(policy)) return [];
  const rules = objectsAt(policy, "rules");
  if (spec["completionMode"] !== "Indexed")
    return [invalidValue(at, { Rules: rules }, "requires indexed completion mode")];
  if (rules.length === 0)
    return [required(`${at}.rules`, "at least one rules must be specified when the successPolicy is specified")];
  const completions = numberAt(spec, "completions") ?? 0;
  return rules.flatMap((rule, index) => successRuleErrors(rule, `${at}.rules[${index}]`, completions));
}

function successRuleErrors(rule: JsonObject, at: string, completions: number): readonly FieldError[] {
  const indexes = rule["succeededIndexes"];
  const count = numberAt(rule, "succeededCount");
  if (indexes === undefined && count === undefined)
    return [required(at, "at least one of succeededCount or succeededIndexes must be specified")];
  const problem = typeof indexes === "string" ? indexesProblem(indexes, completions) : undefined;
  const countAt = `${at}.succeededCount`;
  const most = `must be less than or equal to ${completions} (the number of specified completions)`;
  return [
    ...(problem === undefined
      ? []
      : [invalidValue(`${at}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${problem}`)]),
    ...negativeErrors(count, countAt),
    ...(count !== undefined && count > completions ? [invalidValue(countAt, count, most)] : []),
  ];
}

/** What is wrong with a list such as `0,2-4`, whose numbers rise and are below the number of completions. */
function indexesProblem(text: string, completions: number): string | undefined {
  let last = -1;
  for (const part of text.split(",").flatMap((each) => each.split("-"))) {
    if (!/^\d+$/.test(part)) return `cannot convert string to integer for index: ${JSON.stringify(part)}`;
    const index = Number(part);
    if (index >= completions) return `too large index: ${JSON.stringify(part)}`;
    if (index <= last) return `non-increasing order, previous: ${last}, current: ${index}`;
    last = index;
  }
  return undefined;
}
