/**
 * The checks of one value against the keywords of one schema node, with the messages and in the order of
 * kube-apiserver.
 */
import { deepEqual, isJsonInteger, lookupTable } from "@setpoint/apimachinery";
import type { FieldError, FieldErrorType } from "@setpoint/apimachinery";
import { jsonTypeOf } from "./json-type.ts";
import { goJson, goQuote, goValue } from "./go-value.ts";
import { compilePattern } from "./pattern.ts";
import { isIntegerOf } from "./integer-range.ts";
import { hasFormat } from "./string-format.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** The field of errors that belong to no single field. */
export const noField = "<nil>";

export function report(errors: FieldError[], type: FieldErrorType, field: string, message: string): void {
  errors.push({ type, field, message });
}

function invalidValue(errors: FieldError[], path: string, value: unknown, should: string): void {
  report(errors, "FieldValueInvalid", path, `Invalid value: ${goValue(value)}: ${path} in body should ${should}`);
}

/** The name of a value's type as the server prints it; a whole number is an integer, unless it is a float. */
function typeName(value: unknown): string {
  return isJsonInteger(value) ? "integer" : jsonTypeOf(value);
}

/** Formats of integers are types of their own in Go. */
const integerFormats: ReadonlySet<string | undefined> = new Set(["int32", "int64"]);

const kindsOfFormats: Readonly<Record<string, string>> = lookupTable({ number: "float64", boolean: "" });

export function checkType(schema: StructuralSchema, value: unknown, path: string, errors: FieldError[]): void {
  const found = typeName(value);
  const isEither = schema["x-kubernetes-int-or-string"] === true;
  const wanted = isEither ? "integer,string" : schema.type;
  if (wanted === undefined || wanted === found || (wanted === "number" && found === "integer")) return;
  if (isEither && (found === "integer" || found === "string")) return;
  const isFormatted = wanted === "integer" && integerFormats.has(schema.format) && found !== "string";
  const printed = goQuote(isFormatted ? (kindsOfFormats[found] ?? found) : found);
  const type = isFormatted ? schema.format : wanted;
  const message = `Invalid value: ${printed}: ${path} in body must be of type ${type}: ${printed}`;
  report(errors, "FieldValueTypeInvalid", path, message);
}

export function checkString(schema: StructuralSchema, value: string, path: string, errors: FieldError[]): void {
  checkText(schema, value, path, errors);
  const { format } = schema;
  if (format !== undefined && schema.type === "string" && !hasFormat(format, value)) {
    const printed = goQuote(value);
    const wanted = `${path} in body must be of type ${format}: ${printed}`;
    report(errors, "FieldValueTypeInvalid", path, `Invalid value: ${printed}: ${wanted}`);
  }
}

/** The server stops at the first of these that fails. */
function checkText(schema: StructuralSchema, value: string, path: string, errors: FieldError[]): void {
  const { maxLength, minLength, pattern } = schema;
  // Code points, as Go counts runes; the cheap length settles nearly every case.
  if (maxLength !== undefined && value.length > maxLength && runeCount(value) > maxLength) {
    report(errors, "FieldValueTooLong", path, `Too long: may not be more than ${maxLength} bytes`);
  } else if (minLength !== undefined && runeCount(value) < minLength) {
    invalidValue(errors, path, value, `be at least ${minLength} chars long`);
  } else if (pattern !== undefined && compilePattern(pattern)?.matches(value) === false) {
    invalidValue(errors, path, value, `match '${pattern}'`);
  }
}

function runeCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

export function checkNumber(
  schema: StructuralSchema,
  value: number | bigint,
  path: string,
  errors: FieldError[],
): void {
  checkNumberFormat(schema, value, path, errors);
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } = schema;
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    invalidValue(errors, path, value, `be a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    invalidValue(errors, path, value, `be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    invalidValue(errors, path, value, `be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
}

function checkNumberFormat(schema: StructuralSchema, value: number | bigint, path: string, errors: FieldError[]): void {
  if (schema.type !== "integer") return;
  const { format } = schema;
  // A whole float is in range, although it is of another type.
  if (isIntegerOf(format ?? "int64", Number.isInteger(value) ? BigInt(value) : value)) return;
  const kind = format === undefined ? "(default format)" : `with format ${format}`;
  report(
    errors,
    "FieldValueInvalid",
    noField,
    `Invalid value: "": Checked value must be of type integer ${kind} in ${path}`,
  );
}

/** Division leaves a small error for fractions (0.3 / 0.1), which is not a remainder. */
function isMultiple(value: number | bigint, factor: number): boolean {
  if (typeof value === "bigint") return Number.isInteger(factor) && factor !== 0 && value % BigInt(factor) === 0n;
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
}

export interface CountLimits {
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly noun: string;
}

export function checkCount(count: number, limits: CountLimits, path: string, errors: FieldError[]): void {
  const { min, max, noun } = limits;
  if (min !== undefined && count < min) invalidValue(errors, path, count, `have at least ${min} ${noun}`);
  // The server says "items" for properties too.
  if (max !== undefined && count > max) {
    report(
      errors,
      "FieldValueTooMany",
      path,
      `Too many: ${count}: must have at most ${max} ${max === 1 ? "item" : "items"}`,
    );
  }
}

export function checkEnum(schema: StructuralSchema, value: unknown, path: string, errors: FieldError[]): void {
  const { enum: values } = schema;
  if (values === undefined || values.some((candidate) => deepEqual(candidate, value))) return;
  const supported = values.map((one) => goQuote(typeof one === "string" ? one : goJson(one))).join(", ");
  report(
    errors,
    "FieldValueNotSupported",
    path,
    `Unsupported value: ${goValue(value)}: supported values: ${supported}`,
  );
}
