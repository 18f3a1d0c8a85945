/** Validation of LimitRanges, in the words of upstream. */
import { type FieldError, type UnstructuredObject, validateQualifiedName } from "@setpoint/apimachinery";
import { duplicate, forbidden, invalidValue, required } from "../field-errors.ts";
import { type JsonObject, objectAt, objectsAt, stringAt, textOf } from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";
import { containerResourceNameErrors, mayOvercommit, resourceNameErrors } from "./resource-validation.ts";

const types = ["Container", "PersistentVolumeClaim", "Pod"];
const bounds = ["max", "min"] as const;
const defaults = ["default", "defaultRequest"] as const;
const ratio = "maxLimitRequestRatio";

export function validateLimitRange(range: UnstructuredObject): readonly FieldError[] {
  const seen = new Set<string>();
  return objectsAt(range, "spec", "limits").flatMap((limit, index) => {
    const at = `spec.limits[${index}]`;
    const type = stringAt(limit, "type");
    const errors = [...typeErrors(type, `${at}.type`)];
    if (seen.has(type)) errors.push(duplicate(`${at}.type`, type));
    seen.add(type);
    return [...errors, ...itemErrors(limit, type, at)];
  });
}

function typeErrors(type: string, at: string): readonly FieldError[] {
  const faults = validateQualifiedName(type).map((fault) => invalidValue(at, type, fault));
  if (faults.length > 0 || type.includes("/") || types.includes(type)) return faults;
  return [invalidValue(at, type, "must be a standard limit type or fully qualified")];
}

function itemErrors(limit: JsonObject, type: string, at: string): readonly FieldError[] {
  const namesOf = (field: string): readonly string[] => Object.keys(objectAt(limit, field));
  const nameErrors = (field: string): readonly FieldError[] =>
    namesOf(field).flatMap((name) => nameErrorsOf(type, name, `${at}.${field}[${name}]`));
  const isPod = type === "Pod";
  const misplaced = isPod ? defaults.filter((field) => namesOf(field).length > 0) : [];
  const errors = [
    ...bounds.flatMap(nameErrors),
    ...misplaced.map((field) => forbidden(`${at}.${field}`, "may not be specified when `type` is 'Pod'")),
    ...(isPod ? [] : defaults.flatMap(nameErrors)),
  ];
  if (type === "PersistentVolumeClaim" && !bounds.some((field) => namesOf(field).includes("storage")))
    errors.push(
      required(`${at}.limits`, "either minimum or maximum storage value is required, but neither was provided"),
    );
  errors.push(...nameErrors(ratio));
  const compared = new Set([...bounds, ...(isPod ? [] : defaults), ratio].flatMap(namesOf));
  return [...errors, ...[...compared].flatMap((name) => amountErrors(limit, isPod, name, at))];
}

function nameErrorsOf(type: string, name: string, at: string): readonly FieldError[] {
  return type === "Pod" || type === "Container" ? containerResourceNameErrors(name, at) : resourceNameErrors(name, at);
}

/** An amount as it is written, and its value. */
interface Amount {
  readonly text: string;
  readonly nanos: bigint;
}

function amountErrors(limit: JsonObject, isPod: boolean, name: string, at: string): readonly FieldError[] {
  const amountOf = (field: string): Amount | undefined => {
    const value = objectAt(limit, field)[name];
    return value === undefined ? undefined : { text: textOf(value), nanos: quantityNanos(textOf(value)) ?? 0n };
  };
  const [min, max] = [amountOf("min"), amountOf("max")];
  const [byDefault, request] = isPod ? [undefined, undefined] : [amountOf("default"), amountOf("defaultRequest")];
  const errors: FieldError[] = [];
  const report = (field: string, shown: Amount, detail: string): unknown =>
    errors.push(invalidValue(`${at}.${field}[${name}]`, shown.text, detail));
  /** Reports `low` above `high` at a field, with the one that upstream shows there. */
  const order = (field: string, low: Named, high: Named, shown: "low" | "high"): void => {
    if (low[1] === undefined || high[1] === undefined || low[1].nanos <= high[1].nanos) return;
    const detail = `${low[0]} value ${low[1].text} is greater than ${high[0]} value ${high[1].text}`;
    report(field, shown === "low" ? low[1] : high[1], detail);
  };
  order("min", ["min", min], ["max", max], "low");
  order("defaultRequest", ["min", min], ["default request", request], "high");
  order("defaultRequest", ["default request", request], ["max", max], "low");
  order("defaultRequest", ["default request", request], ["default limit", byDefault], "low");
  order("default", ["min", min], ["default", byDefault], "low");
  order("default", ["default", byDefault], ["max", max], "high");
  for (const problem of ratioProblems(amountOf(ratio), min, max)) report(ratio, ...problem);
  if (byDefault !== undefined && request !== undefined && !mayOvercommit(name) && byDefault.nanos !== request.nanos) {
    const detail = `default value ${byDefault.text} must equal to defaultRequest value ${request.text} in ${name}`;
    report("defaultRequest", request, detail);
  }
  return errors;
}

type Named = readonly [name: string, amount: Amount | undefined];

function ratioProblems(
  most: Amount | undefined,
  min: Amount | undefined,
  max: Amount | undefined,
): readonly (readonly [Amount, string])[] {
  if (most === undefined) return [];
  const problems: (readonly [Amount, string])[] = [];
  if (most.nanos < 1_000_000_000n) problems.push([most, `ratio ${most.text} is less than 1`]);
  if (min === undefined || max === undefined) return problems;
  const possible = Number(max.nanos) / Number(min.nanos);
  if (Number(most.nanos) / 1e9 > possible)
    problems.push([most, `ratio ${most.text} is greater than max/min = ${possible.toFixed(6)}`]);
  return problems;
}
