/** The options of a write, checked. */
import { type FieldError, invalid } from "@setpoint/apimachinery";
import { parameter, parameters, type Query } from "../request/query-parameters.ts";

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
  const values = parameters(query, "dryRun").filter((value) => value !== "");
  for (const value of values) if (value !== "All") errors.push(unsupportedDryRun(value));
  return values.length > 0;
}

export function unsupportedDryRun(value: string): FieldError {
  const message = `Unsupported value: "${value}": supported values: "All"`;
  return { type: "FieldValueNotSupported", field: "dryRun", message };
}

function parseFieldValidation(value: string, errors: FieldError[]): FieldValidation {
  if (value === "") return "Warn";
  if (value === "Ignore" || value === "Warn" || value === "Strict") return value;
  const message = `Unsupported value: "${value}": supported values: "", "Ignore", "Strict", "Warn"`;
  errors.push({ type: "FieldValueNotSupported", field: "fieldValidation", message });
  return "Warn";
}

function checkFieldManager(manager: string, errors: FieldError[]): void {
  const field = "fieldManager";
  if (Buffer.byteLength(manager) > fieldManagerLengthMax) {
    const message = `Too long: may not be more than ${fieldManagerLengthMax} bytes`;
    errors.push({ type: "FieldValueTooLong", field, message });
  }
  if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(manager)) {
    const message = `Invalid value: "${manager}": should only contain printable characters`;
    errors.push({ type: "FieldValueInvalid", field, message });
  }
}

/** The first segment of the User-Agent, as upstream names a manager that did not name itself. */
function managerOf(userAgent: string): string {
  const slash = userAgent.indexOf("/");
  return (slash === -1 ? userAgent : userAgent.slice(0, slash)).slice(0, fieldManagerLengthMax);
}
