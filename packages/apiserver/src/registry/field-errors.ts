/** Field errors with upstream's messages, and the checks that several kinds share. */
import type { FieldError } from "@setpoint/apimachinery";
import { encodeJson } from "@setpoint/apimachinery";
import { goQuote } from "@setpoint/schema";

export function required(field: string, detail = ""): FieldError {
  return { type: "FieldValueRequired", field, message: `Required value${detail === "" ? "" : `: ${detail}`}` };
}

/** Fields of an object are in the caller's order: Go sorts those of maps, and not those of structs. */
function shown(value: unknown): string {
  return typeof value === "string" ? goQuote(value) : encodeJson(value);
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

export function forbidden(field: string, detail: string): FieldError {
  return { type: "FieldValueForbidden", field, message: `Forbidden: ${detail}` };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: "FieldValueDuplicate", field, message: `Duplicate value: ${shown(value)}` };
}

export function notFound(field: string, value: unknown): FieldError {
  return { type: "FieldValueNotFound", field, message: `Not found: ${shown(value)}` };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map(goQuote).join(", ");
  const message = `Unsupported value: ${shown(value)}: supported values: ${list}`;
  return { type: "FieldValueNotSupported", field, message };
}

export const immutableDetail = "field is immutable";

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Upstream's explanation why a text is no DNS-1123 label, or undefined when it is one. */
export function dnsLabelProblem(text: string): string | undefined {
  if (text.length > 63) return "must be no more than 63 characters";
  if (dnsLabel.test(text)) return undefined;
  return "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

export const portProblem = "must be between 1 and 65535, inclusive";

export function isPort(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65535;
}

/** Reports each value that a list of names has twice. */
export function duplicates(field: (index: number) => string, names: readonly string[]): readonly FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  names.forEach((name, index) => {
    if (name !== "" && seen.has(name)) errors.push(duplicate(field(index), name));
    seen.add(name);
  });
  return errors;
}
