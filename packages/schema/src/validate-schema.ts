/** Validates an object of a custom kind against its schema, with the errors that kube-apiserver gives. */
import { type FieldError, validateDns1035Label, deepEqual } from "@setpoint/apimachinery";
import { indexPath, joinPath, keyPath } from "./field-path.ts";
import { isJsonObject } from "./json-object.ts";
import { itemKey, validateLists } from "./list-types.ts";
import { goQuote } from "./go-value.ts";
import { hasRules } from "./has-rules.ts";
import { isEmbedded } from "./object-meta-schema.ts";
import type { RuleEvaluator } from "./rule-evaluator.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { checkCount, checkEnum, checkNumber, checkString, checkType, noField, report } from "./value-checks.ts";

/** What validation of an object compares with and evaluates in addition to the schema. */
export interface ValidateOptions {
  /**
   * The object as it is stored: what was wrong there already and has not changed is not an error of this
   * update.
   */
  readonly old?: unknown;
  /** The compiled rules of this very schema; without them rules are not checked. */
  readonly rules?: RuleEvaluator;
}

/**
 * The value is decoded and defaulted. Errors come in the order of kube-apiserver, except that fields are in
 * schema order.
 */
export function validateSchema(
  schema: StructuralSchema,
  value: unknown,
  options: ValidateOptions = {},
): readonly FieldError[] {
  const { old, rules } = options;
  const errors: FieldError[] = [];
  validateNode(schema, value, old, "", errors);
  validateEmbedded(schema, value, "", errors);
  const duplicates = validateLists(schema, value);
  if (duplicates.length > 0 && (old === undefined || validateLists(schema, old).length === 0))
    errors.push(...duplicates);
  if (rules === undefined) return errors;
  if (!errors.some(isBlocking)) return [...errors, ...rules.evaluate(value, old)];
  return hasRules(schema) ? [...errors, rulesSkipped] : errors;
}

const rulesSkipped: FieldError = {
  type: "FieldValueInvalid",
  field: noField,
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

const blockingTypes: ReadonlySet<string> = new Set([
  "FieldValueRequired",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

function isBlocking(error: FieldError): boolean {
  return blockingTypes.has(error.type);
}

function validateNode(
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  path: string,
  errors: FieldError[],
): void {
  if (value === null && schema.nullable === true) return;
  const found: FieldError[] = [];
  checkType(schema, value, path, found);
  validateJunctors(schema, value, old, path, found);
  if (typeof value === "string") checkString(schema, value, path, found);
  else if (typeof value === "number" || typeof value === "bigint") checkNumber(schema, value, path, found);
  else if (Array.isArray(value)) validateItems(schema, value, old, path, found);
  checkEnum(schema, value, path, found);
  if (isJsonObject(value)) validateFields(schema, value, old, path, found);
  // What is as it was before the update is not an error of the update.
  const isUnchanged = found.length > 0 && old !== undefined && deepEqual(value, old);
  if (!isUnchanged) errors.push(...found);
}

function validateItems(
  schema: StructuralSchema,
  value: readonly unknown[],
  old: unknown,
  path: string,
  errors: FieldError[],
): void {
  const { items, minItems, maxItems } = schema;
  if (items !== undefined) {
    const oldItems = correlatedItems(schema, old);
    for (const [index, item] of value.entries()) {
      const oldItem = oldItems?.get(itemKey(schema, item));
      validateNode(items, item, oldItem, indexPath(path, index), errors);
    }
  }
  checkCount(value.length, { min: minItems, max: maxItems, noun: "items" }, path, errors);
}

/** Only items of `map` lists have a past of their own; elsewhere a place in a list says nothing. */
function correlatedItems(schema: StructuralSchema, old: unknown): Map<string, unknown> | undefined {
  if (schema["x-kubernetes-list-type"] !== "map" || !Array.isArray(old)) return undefined;
  return new Map(old.map((item: unknown) => [itemKey(schema, item), item]));
}

function validateFields(
  schema: StructuralSchema,
  value: Record<string, unknown>,
  old: unknown,
  path: string,
  errors: FieldError[],
): void {
  const { required = [], minProperties, maxProperties } = schema;
  const oldFields = isJsonObject(old) ? old : undefined;
  const names = Object.keys(value);
  checkCount(names.length, { min: minProperties, max: maxProperties, noun: "properties" }, path, errors);
  for (const name of required) {
    if (!Object.hasOwn(value, name)) report(errors, "FieldValueRequired", joinPath(path, name), "Required value");
  }
  for (const name of names) {
    const child = fieldSchema(schema, name);
    if (child !== undefined) validateNode(child, value[name], oldFields?.[name], keyPath(path, name), errors);
  }
}

/** What the value of a field must be; undefined when it may be anything. */
function fieldSchema(
  { properties, additionalProperties }: StructuralSchema,
  name: string,
): StructuralSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function validateJunctors(
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  path: string,
  errors: FieldError[],
): void {
  const { allOf, anyOf, oneOf, not } = schema;
  const attempt = (branch: StructuralSchema): FieldError[] => {
    const found: FieldError[] = [];
    validateNode(branch, value, old, path, found);
    return found;
  };
  const fail = (must: string): void => {
    errors.push({ type: "FieldValueInvalid", field: noField, message: `Invalid value: "": "${path}" must ${must}` });
  };
  if (anyOf !== undefined) {
    const attempts = anyOf.map(attempt);
    if (attempts.every((found) => found.length > 0)) {
      fail("validate at least one schema (anyOf)");
      errors.push(...(attempts[0] ?? []));
    }
  }
  if (oneOf !== undefined) {
    const attempts = oneOf.map(attempt);
    const valid = attempts.filter((found) => found.length === 0).length;
    if (valid !== 1) {
      const count = valid === 0 ? "none valid" : `${valid} valid alternatives`;
      fail(`validate one and only one schema (oneOf). Found ${count}`);
      if (valid === 0) errors.push(...(attempts[0] ?? []));
    }
  }
  if (allOf !== undefined) {
    const attempts = allOf.map(attempt);
    errors.push(...attempts.flat());
    const valid = attempts.filter((found) => found.length === 0).length;
    if (valid < allOf.length) fail(`validate all the schemas (allOf)${valid === 0 ? ". None validated" : ""}`);
  }
  if (not !== undefined && attempt(not).length === 0) fail("not validate the schema (not)");
}

const typeProblems = {
  apiVersion: (text: string): readonly string[] =>
    text.split("/").length > 2 ? [`unexpected GroupVersion string: ${text}`] : [],
  kind: (text: string): readonly string[] =>
    validateDns1035Label(text.toLowerCase()).map((why) => `may have mixed case, but should otherwise match: ${why}`),
};

function validateType(name: keyof typeof typeProblems, value: unknown, field: string, errors: FieldError[]): void {
  if (value === undefined || value === "") {
    errors.push({ type: "FieldValueRequired", field, message: "Required value" });
  } else if (typeof value === "string") {
    for (const why of typeProblems[name](value))
      errors.push({ type: "FieldValueInvalid", field, message: `Invalid value: ${goQuote(value)}: ${why}` });
  }
}

/** Embedded objects must have apiVersion and kind. */
function validateEmbedded(schema: StructuralSchema, value: unknown, path: string, errors: FieldError[]): void {
  const { items } = schema;
  if (Array.isArray(value)) {
    if (items === undefined) return;
    for (const [index, item] of value.entries()) validateEmbedded(items, item, indexPath(path, index), errors);
    return;
  }
  if (!isJsonObject(value)) return;
  if (isEmbedded(schema)) {
    for (const name of ["apiVersion", "kind"] as const) validateType(name, value[name], joinPath(path, name), errors);
  }
  for (const [name, item] of Object.entries(value)) {
    if (typeof item !== "object") continue;
    const child = fieldSchema(schema, name);
    if (child !== undefined) validateEmbedded(child, item, keyPath(path, name), errors);
  }
}
