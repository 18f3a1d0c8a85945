/** The options of list and watch, checked as upstream's ListOptions validation does. */
import { type FieldError, invalid } from "@setpoint/apimachinery";
import { badRequest } from "../response/api-errors.ts";
import { booleanParameter, parameter, type Query } from "./query-parameters.ts";

export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly shardSelector: string;
  /** 0: no limit. */
  readonly limit: number;
  readonly continue: string;
  /** Absent when unset; 0 means any. */
  readonly resourceVersion?: number;
  readonly match: "" | "Exact" | "NotOlderThan";
}

export interface WatchOptions extends ListOptions {
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

const optionsKind = { group: "meta.k8s.io", kind: "ListOptions" };

export function parseListOptions(query: Query | undefined): ListOptions {
  const errors: FieldError[] = [];
  const match = parseMatch(query, errors);
  const resourceVersion = parameter(query, "resourceVersion");
  if (query?.["sendInitialEvents"] !== undefined) {
    errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (match !== "" && resourceVersion === "") {
    const message = "resourceVersionMatch is forbidden unless resourceVersion is provided";
    errors.push(forbiddenField("resourceVersionMatch", message));
  } else if (match !== "" && parameter(query, "continue") !== "") {
    errors.push(forbiddenField("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"));
  } else if (match === "Exact" && resourceVersion === "0") {
    const message = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
    errors.push(forbiddenField("resourceVersionMatch", message));
  }
  if (errors.length > 0) throw invalid(optionsKind, "", errors);
  // A list has no use for it.
  integerParameter(query, "timeoutSeconds");
  return { ...commonOptions(query), match, ...listRevision(resourceVersion) };
}

export function parseWatchOptions(query: Query | undefined, resource: string): WatchOptions {
  const errors: FieldError[] = [];
  const match = parseMatch(query, errors);
  const sendInitialEvents =
    query?.["sendInitialEvents"] === undefined ? undefined : booleanParameter(query, "sendInitialEvents");
  if (sendInitialEvents === undefined && match !== "") {
    const message = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    errors.push(forbiddenField("resourceVersionMatch", message));
  } else if (sendInitialEvents !== undefined && match !== "NotOlderThan") {
    const message = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    errors.push(forbiddenField("resourceVersionMatch", message));
  }
  if (errors.length > 0) throw invalid(optionsKind, "", errors);
  const timeoutSeconds = integerParameter(query, "timeoutSeconds");
  return {
    ...commonOptions(query),
    match,
    ...watchRevision(parameter(query, "resourceVersion"), resource),
    allowBookmarks: booleanParameter(query, "allowWatchBookmarks"),
    ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  };
}

/** GET of one object knows only this option. */
export function parseGetRevision(query: Query | undefined): number | undefined {
  return listRevision(parameter(query, "resourceVersion")).resourceVersion;
}

function commonOptions(
  query: Query | undefined,
): Pick<ListOptions, "labelSelector" | "fieldSelector" | "shardSelector" | "limit" | "continue"> {
  return {
    labelSelector: parameter(query, "labelSelector"),
    fieldSelector: parameter(query, "fieldSelector"),
    shardSelector: parameter(query, "shardSelector"),
    limit: integerParameter(query, "limit") ?? 0,
    continue: parameter(query, "continue"),
  };
}

function parseMatch(query: Query | undefined, errors: FieldError[]): ListOptions["match"] {
  const match = parameter(query, "resourceVersionMatch");
  if (match === "" || match === "Exact" || match === "NotOlderThan") return match;
  const message = `Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`;
  errors.push({ type: "FieldValueNotSupported", field: "resourceVersionMatch", message });
  return "";
}

function forbiddenField(field: string, message: string): FieldError {
  return { type: "FieldValueForbidden", field, message: `Forbidden: ${message}` };
}

/** A non-negative integer that JavaScript holds exactly, or undefined. */
function parseRevision(text: string): number | undefined {
  const revision = Number(text);
  return text !== "" && Number.isSafeInteger(revision) && revision >= 0 ? revision : undefined;
}

function listRevision(text: string): { readonly resourceVersion?: number } {
  if (text === "") return {};
  const resourceVersion = parseRevision(text);
  if (resourceVersion !== undefined) return { resourceVersion };
  throw badRequest(`invalid resource version: resourceVersion: ${revisionProblem(text)}`);
}

function revisionProblem(text: string): string {
  const why = /^\d+$/.test(text) ? "value out of range" : "invalid syntax";
  return `Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${why}`;
}

function watchRevision(text: string, resource: string): { readonly resourceVersion?: number } {
  if (text === "") return {};
  const resourceVersion = parseRevision(text);
  if (resourceVersion !== undefined) return { resourceVersion };
  const error: FieldError = { type: "FieldValueInvalid", field: "resourceVersion", message: revisionProblem(text) };
  throw invalid({ group: "", kind: resource }, "", [error]);
}

/** A negative one is none, as for upstream. */
function integerParameter(query: Query | undefined, name: string): number | undefined {
  const text = parameter(query, name);
  if (text === "") return undefined;
  const isInteger = /^[+-]?\d+$/.test(text);
  if (isInteger && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) return Math.max(0, Number(text));
  const why = isInteger ? "value out of range" : "invalid syntax";
  throw badRequest(`strconv.ParseInt: parsing "${text}": ${why}`);
}
