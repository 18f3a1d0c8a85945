/** The options of a write, checked. */
import { type FieldError, invalid } from "@setpoint/apimachinery";
import { parameter, parameters, type Query } from "./query-parameters.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

export interface WriteOptions {
  readonly dryRun: boolean;
  /** Given by the client, else from its User-Agent. */
  readonly fieldManager: string;
  readonly fieldManagerGiven: boolean;
  readonly fieldValidation: FieldValidation;
}

/** As in upstream's ValidateFieldManager. */
const fieldManagerLengthMax = 128;

export type WriteOptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

export function parseWriteOptions(query: Query | undefined, userAgent: string, kind: WriteOptionsKind): WriteOptions {
  if (query === undefined) return { ...noOptions, fieldManager: managerOf(userAgent) };
  const errors: FieldError[] = [];
  const dryRun = parseDryRun(query, errors);
  const given = parameter(query, "fieldManager");
  if (given !== "") checkFieldManager(given, errors);
  const fieldValidation = parseFieldValidation(parameter(query, "fieldValidation"), errors);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind }, "", errors);
  const fieldManager = given === "" ? managerOf(userAgent) : given;
  return { dryRun, fieldManager, fieldManagerGiven: given !== "", fieldValidation };
}

const noOptions: WriteOptions = { dryRun: false, fieldManager: "", fieldManagerGiven: false, fieldValidation: "Warn" };

export function parseDryRun(query: Query, errors: FieldError[]): boolean {
  const values = parameters(query, "dryRun");
  if (values.some((value) => value !== "All")) errors.push(unsupportedDryRun(values));
  return values.length > 0;
}

export function unsupportedDryRun(values: readonly string[]): FieldError {
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  return { type: "FieldValueNotSupported", field: "dryRun", message };
}

function parseFieldValidation(value: string, errors: FieldError[]): FieldValidation {
  if (value === "") return "Warn";
  if (value === "Ignore" || value === "Warn" || value === "Strict") return value;
  const message = `Unsupported value: "${value}": supported values: "", "Ignore", "Strict", "Warn"`;
  errors.push({ type: "FieldValueNotSupported", field: "fieldValidation", message });
  return "Warn";
}

const printable = /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
/** What nearly all managers are called. */
const plainManager = /^[\w./-]{1,128}$/;

function checkFieldManager(manager: string, errors: FieldError[]): void {
  if (plainManager.test(manager)) return;
  const field = "fieldManager";
  if (Buffer.byteLength(manager) > fieldManagerLengthMax) {
    const message = `Too long: may not be more than ${fieldManagerLengthMax} bytes`;
    errors.push({ type: "FieldValueTooLong", field, message });
  }
  let position = 0;
  for (const character of manager) {
    if (!printable.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const message = `Invalid value: ${JSON.stringify(manager)}: invalid character U+${code} (at position ${position})`;
      errors.push({ type: "FieldValueInvalid", field, message });
    }
    position += Buffer.byteLength(character);
  }
}

/** The first segment of the User-Agent, as upstream names a manager that did not name itself. */
function managerOf(userAgent: string): string {
  const slash = userAgent.indexOf("/");
  return (slash === -1 ? userAgent : userAgent.slice(0, slash)).slice(0, fieldManagerLengthMax);
}
