/**
 * The faults to inject, as a file describes them: rules, each with the requests that it hits and what happens
 * to them.
 */
import { isJsonObject, type JsonObject, SetpointError } from "@setpoint/apimachinery";

/** Which requests. Absent fields match everything; texts may end with `*`. */
export interface FaultMatch {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verbs?: readonly string[];
  /** Plural names, with the subresource after a slash: `configmaps`, `widgets/status`. */
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  readonly users?: readonly string[];
  /** Clients by what they call themselves; operators and kubectl are often one user and two agents. */
  readonly userAgents?: readonly string[];
}

/** Each fault with its settings, in milliseconds unless the name has another unit. */
export interface FaultSettings {
  /** 409, as if another writer had been faster. */
  readonly conflict: object;
  /** 429. */
  readonly tooManyRequests: { readonly retryAfterSeconds?: number };
  /** A broken server: 500, 502, 503 or 504. */
  readonly serverError: { readonly status?: number };
  /** 403, as from a quota. */
  readonly forbidden: object;
  /** 410 to lists and watches: the version that they ask for is too old. */
  readonly gone: object;
  /** 504 to lists and watches that ask for a version: this server is not so far. */
  readonly tooLargeResourceVersion: object;
  /** The server delays the request before it handles it. */
  readonly latency: { readonly minMs?: number; readonly maxMs: number };
  /** The connection breaks before the server handles the request. */
  readonly refused: object;
  /** The request is done, and the connection breaks instead of an answer. */
  readonly lostAnswer: object;
  /** The connection breaks at once, and the request is done later. */
  readonly lateApply: { readonly afterMs: number };
  /** A watch breaks, so long after it began. */
  readonly cutWatch: { readonly minMs?: number; readonly maxMs: number };
  /** A watch sends nothing for this time, from this time after its start; then it delivers all frames. */
  readonly silentWatch: { readonly afterMs?: number; readonly forMs: number };
  /**
   * Answered by a server that is so far behind: watches tell later, lists that take any version get an old
   * one.
   */
  readonly laggingView: { readonly lagMs: number };
}

/** The faults that a rule can inject. */
export type FaultName = keyof FaultSettings;

/**
 * One fault, its settings, and the requests that it hits: those that `match`, thinned out by `every`,
 * `percent`, `times`.
 */
export interface FaultRule<Name extends FaultName = FaultName> {
  readonly name: string;
  readonly fault: Name;
  readonly settings: FaultSettings[Name];
  readonly match: FaultMatch;
  /** Of the requests that match: each n-th. Default 1. */
  readonly every: number;
  /** Of those: how many of a hundred. Default 100. */
  readonly percent: number;
  /** How often at most; default without limit. */
  readonly times: number;
}

/** The rules of a server with faults and the seed of their random choices. */
export interface FaultPlan {
  /** Seeds the random choices; the timing of clients on the real clock stays unpredictable. */
  readonly seed: number;
  readonly rules: readonly FaultRule[];
}

interface Field {
  readonly min: number;
  readonly max: number;
  readonly required?: boolean;
}

const durationMsMax = 3_600_000;
const duration: Field = { min: 0, max: durationMsMax };
const wanted: Field = { ...duration, required: true };
const rulesMax = 100;
const countMax = 1_000_000_000;

const settingsOf: Readonly<Record<FaultName, Readonly<Record<string, Field>>>> = {
  conflict: {},
  tooManyRequests: { retryAfterSeconds: { min: 0, max: 3_600 } },
  serverError: { status: { min: 500, max: 504 } },
  forbidden: {},
  gone: {},
  tooLargeResourceVersion: {},
  latency: { minMs: duration, maxMs: wanted },
  refused: {},
  lostAnswer: {},
  lateApply: { afterMs: wanted },
  cutWatch: { minMs: duration, maxMs: wanted },
  silentWatch: { afterMs: duration, forMs: wanted },
  laggingView: { lagMs: wanted },
};

export const faultNames: readonly FaultName[] = Object.keys(settingsOf) as FaultName[];

const matchFields = ["verbs", "resources", "namespaces", "names", "users", "userAgents"] as const;
const ruleFields = ["name", "fault", "match", "every", "percent", "times"];
const verbs = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/** Reads a plan; throws `ERR_FAULTS_INVALID` with the path of the field that is wrong. */
export function parseFaultPlan(value: unknown): FaultPlan {
  const plan = objectAt(value, "");
  refuseUnknown(plan, ["seed", "rules"], "");
  const rules = plan["rules"] ?? [];
  if (!Array.isArray(rules)) throw invalid("rules", "is not a list");
  if (rules.length > rulesMax) throw invalid("rules", `has ${rules.length} entries, more than ${rulesMax}`);
  const parsed = rules.map((rule, index) => parseRule(rule, `rules[${index}]`, `rule-${index}`));
  for (const [index, { name }] of parsed.entries())
    if (parsed.findIndex((each) => each.name === name) !== index)
      throw invalid(`rules[${index}].name`, `is "${name}", as that of another rule`);
  return { seed: numberAt(plan["seed"], "seed", { min: 0, max: countMax }) ?? 1, rules: parsed };
}

/** Reads one rule. */
export function parseRule(value: unknown, path: string, nameDefault: string): FaultRule {
  const rule = objectAt(value, path);
  const fault = faultAt(rule["fault"], `${path}.fault`);
  const settings = settingsOf[fault];
  refuseUnknown(rule, [...ruleFields, ...Object.keys(settings)], path);
  const read: Record<string, number> = {};
  for (const [name, field] of Object.entries(settings)) {
    const number = numberAt(rule[name], `${path}.${name}`, field);
    if (number !== undefined) read[name] = number;
  }
  if ((read["minMs"] ?? 0) > (read["maxMs"] ?? durationMsMax))
    throw invalid(`${path}.minMs`, `is ${read["minMs"]}, more than maxMs, which is ${read["maxMs"]}`);
  return {
    name: textAt(rule["name"], `${path}.name`) ?? nameDefault,
    fault,
    settings: read,
    match: parseMatch(rule["match"] ?? {}, `${path}.match`),
    every: numberAt(rule["every"], `${path}.every`, { min: 1, max: countMax }) ?? 1,
    percent: numberAt(rule["percent"], `${path}.percent`, { min: 0, max: 100 }) ?? 100,
    times: numberAt(rule["times"], `${path}.times`, { min: 0, max: countMax }) ?? Number.POSITIVE_INFINITY,
  };
}

function parseMatch(value: unknown, path: string): FaultMatch {
  const match = objectAt(value, path);
  refuseUnknown(match, matchFields, path);
  const read: Record<string, readonly string[]> = {};
  for (const name of matchFields) if (match[name] !== undefined) read[name] = textsAt(match[name], `${path}.${name}`);
  for (const [index, verb] of (read["verbs"] ?? []).entries())
    if (!verbs.includes(verb))
      throw invalid(`${path}.verbs[${index}]`, `is "${verb}"; the verbs are ${verbs.join(", ")}`);
  return read;
}

function faultAt(value: unknown, path: string): FaultName {
  const found = faultNames.find((name) => name === value);
  if (found !== undefined) return found;
  throw invalid(path, `is ${JSON.stringify(value) ?? "missing"}; the faults are ${faultNames.join(", ")}`);
}

function objectAt(value: unknown, path: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(path, `is ${value === null || value === undefined ? "empty" : "not an object"}`);
}

function textAt(value: unknown, path: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw invalid(path, `is ${JSON.stringify(value)}, not a text`);
}

function textsAt(value: unknown, path: string): readonly string[] {
  if (!Array.isArray(value)) throw invalid(path, "is not a list");
  return value.map((each: unknown, index) => {
    if (typeof each === "string") return each;
    throw invalid(`${path}[${index}]`, `is ${JSON.stringify(each)}, not a text`);
  });
}

function numberAt(value: unknown, path: string, { min, max, required = false }: Field): number | undefined {
  if (value === undefined && !required) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(path, `is ${JSON.stringify(value) ?? "missing"}; expected a whole number from ${min} to ${max}`);
}

function refuseUnknown(object: JsonObject, known: readonly string[], path: string): void {
  const field = Object.keys(object).find((name) => !known.includes(name));
  if (field === undefined) return;
  throw invalid(path === "" ? field : `${path}.${field}`, `is not a field here; known are ${known.join(", ")}`);
}

function invalid(path: string, problem: string): SetpointError {
  const where = path === "" ? "the file" : path;
  return new SetpointError("ERR_FAULTS_INVALID", `Cannot use the faults: ${where} ${problem}`);
}
