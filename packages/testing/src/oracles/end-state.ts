/**
 * The stored objects and the data of models at the end of a run, without random and time-dependent parts, so
 * that two runs can be compared.
 */
import { createHash } from "node:crypto";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { encodeJson } from "@setpoint/apimachinery";
import type { StorageContents } from "@setpoint/apiserver";
import { appliedAnnotation } from "@setpoint/runtime";
import { foreignKey } from "../faults/foreign-key.ts";
import { sitePattern } from "../faults/site-pattern.ts";
import type { WorldModel } from "../program-model.ts";

/**
 * By kind and canonical name (`Pod default/orders-*`), the canonical texts of the objects, in order; the data
 * of models are under `outsideKey`.
 */
export type EndState = ReadonlyMap<string, readonly Json[]>;

/** The paths of fields in the data of models begin with it: `Outside.orders.*.flavor`. */
const outsideKey = "Outside";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Not an operator's work: objects of the control plane, and objects about the way and not the result. */
const leftOut =
  /^\/(events|namespaces|nodes|serviceaccounts|componentstatuses)$|^\/(events\.k8s\.io|coordination\.k8s\.io|apiextensions\.k8s\.io|apiregistration\.k8s\.io|rbac\.authorization\.k8s\.io|scheduling\.k8s\.io|flowcontrol\.apiserver\.k8s\.io|discovery\.k8s\.io)\/|^\/apps\/controllerrevisions$/;
const leftOutMetadata = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
  "selfLink",
]);
const ofTheWay = new Set(["restartCount", "containerID", "lastState", "collisionCount"]);
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const differencesMax = 6;
/** Characters of a value in a sentence, from shortly before the place that differs. */
const contextLength = 40;
const textMax = 100;

/** A world at rest, as far as its end state needs it. */
export interface EndedWorld {
  readonly models: readonly WorldModel[];
  contents(this: void): StorageContents;
}

export function endState({ contents, models }: EndedWorld): EndState {
  const state = new Map<string, Json[]>();
  const add = (key: string, value: Json): unknown => state.set(key, [...(state.get(key) ?? []), value]);
  for (const { prefix, object } of contents().entries)
    if (!leftOut.test(prefix))
      add(`${object.kind} ${sitePattern(placeOf(object))}`, canonical(object, "", object.metadata.generation));
  for (const model of models) if (model.data !== undefined) add(outsideKey, canonical(model.data(), "", undefined));
  for (const objects of state.values()) objects.sort(byText);
  return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The stored objects alone. */
export function insideOf(state: EndState): EndState {
  return new Map([...state].filter(([key]) => key !== outsideKey));
}

/** The data of models alone. */
export function outsideOf(state: EndState): EndState {
  return new Map([...state].filter(([key]) => key === outsideKey));
}

export function hashOf(state: EndState): string {
  return createHash("sha256")
    .update(encodeJson([...state]))
    .digest("hex");
}

/** Paths (`Pod.spec.nodeName`) that differ between runs without faults, so that chance is the only reason. */
export function chancePaths(states: readonly EndState[]): ReadonlySet<string> {
  const paths = new Set<string>();
  const [first, ...others] = states;
  for (const other of others)
    for (const [key, objects] of first ?? []) {
      const [kind = ""] = key.split(" ");
      const same = other.get(key) ?? [];
      for (const [index, object] of objects.entries())
        for (const { path } of differing(object, same[index] ?? null, kind)) paths.add(path);
    }
  return paths;
}

/** Sentences about the differences; none when the states are equal but for these paths. */
export function differences(state: EndState, reference: EndState, chance: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  for (const key of new Set([...reference.keys(), ...state.keys()])) {
    const [kind = ""] = key.split(" ");
    const wanted = reference.get(key) ?? [];
    const types = conditionTypes(wanted);
    const now = (state.get(key) ?? []).map((each) => without(withoutPassed(each, types), kind, chance)).sort(byText);
    const then = wanted.map((each) => without(each, kind, chance)).sort(byText);
    if (now.length !== then.length) found.push(`${key}: ${then.length} in the run without faults, ${now.length} now`);
    else for (const [index, object] of now.entries()) found.push(...fieldDifferences(key, object, then[index] ?? null));
  }
  return found.slice(0, differencesMax);
}

function conditionTypes(objects: readonly Json[]): ReadonlySet<Json | undefined> {
  return new Set(objects.flatMap((each) => conditionsOf(each).map((condition) => condition["type"])));
}

/** A condition that came with the fault and reports its end is no difference. */
function withoutPassed(object: Json, types: ReadonlySet<Json | undefined>): Json {
  const conditions = conditionsOf(object);
  const left = conditions.filter((each) => each["status"] !== "False" || types.has(each["type"]));
  if (left.length === conditions.length || !isRecord(object) || !isRecord(object["status"])) return object;
  return { ...object, status: { ...object["status"], conditions: left } };
}

function conditionsOf(object: Json): readonly { readonly [key: string]: Json }[] {
  const status = isRecord(object) ? object["status"] : undefined;
  const conditions = isRecord(status) ? status["conditions"] : undefined;
  return conditions !== undefined && isList(conditions) ? conditions.filter(isRecord) : [];
}

function fieldDifferences(key: string, now: Json, then: Json): readonly string[] {
  return differing(now, then, "").map(({ path, a, b }) => {
    const [first, second] = distinctTexts(a, b);
    return `${key}: ${path.replace(/^\./, "")} is ${first}, and ${second} without faults`;
  });
}

/** Both texts from shortly before the place where they differ. */
function distinctTexts(a: Json, b: Json): readonly [string, string] {
  const [first, second] = [encodeJson(a), encodeJson(b)];
  let at = 0;
  while (at < first.length && first[at] === second[at]) at++;
  const from = Math.max(0, at - contextLength);
  const cut = (text: string): string =>
    `${from > 0 ? "…" : ""}${text.slice(from, at + textMax)}${text.length > at + textMax ? "…" : ""}`;
  return [cut(first), cut(second)];
}

/** A place at which two values differ; elements of lists are `*`. */
interface Differing {
  readonly path: string;
  readonly a: Json;
  readonly b: Json;
}

function differing(a: Json, b: Json, path: string): readonly Differing[] {
  if (isRecord(a) && isRecord(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
      differing(a[key] ?? null, b[key] ?? null, `${path}.${key}`),
    );
  if (isList(a) && isList(b) && a.length === b.length) {
    const found = a.flatMap((each, index) => differing(each, b[index] ?? null, `${path}.*`));
    return found.filter((each, index) => found.findIndex((other) => other.path === each.path) === index);
  }
  return encodeJson(a) === encodeJson(b) ? [] : [{ path, a, b }];
}

function without(value: Json, at: string, paths: ReadonlySet<string>): Json {
  if (paths.size === 0) return value;
  if (isList(value) && paths.has(`${at}.*`)) return [];
  if (isList(value)) return sortedIfNamed(value.map((each) => without(each, `${at}.*`, paths)));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) =>
      paths.has(`${at}.${key}`) ? [] : [[key, without(each, `${at}.${key}`, paths)]],
    ),
  );
}

function canonical(value: unknown, key: string, generation: number | undefined): Json {
  if (Array.isArray(value)) return sortedIfNamed(value.map((each) => canonical(each, key, generation)));
  if (key === "nodeName") return "(node)";
  // A hash of the applied object, with the owner's UID; the applied fields are compared themselves.
  if (key === appliedAnnotation && typeof value === "string") return value.slice(0, value.lastIndexOf("/"));
  // The end does not depend on how often a spec changed.
  if (key === "observedGeneration" && value === generation) return "(current)";
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !isLeftOut(key, name))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, each]) => [sitePattern(name), canonical(each, name, generation)] as const)
        .filter(([, each]) => !isEmpty(each)),
    );
  if (typeof value === "string") return timestamp.test(value) ? "(time)" : sitePattern(value);
  return typeof value === "number" || typeof value === "boolean" ? value : null;
}

/** Kubernetes treats empty and absent fields alike. */
function isEmpty(value: Json): boolean {
  return isRecord(value) ? Object.keys(value).length === 0 : isList(value) && value.length === 0;
}

function isLeftOut(key: string, name: string): boolean {
  if (key === "metadata") return leftOutMetadata.has(name);
  if (key === "ownerReferences") return name === "uid";
  // What another client added stays; how often a container was started or a name was taken is history.
  return name === foreignKey || ofTheWay.has(name);
}

/** The order of objects with generated names is random. */
function sortedIfNamed(list: Json[]): Json[] {
  return encodeJson(list).includes("*") ? list.sort(byText) : list;
}

function byText(a: Json, b: Json): number {
  const [left, right] = [encodeJson(a), encodeJson(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function placeOf({ metadata: { name = "", namespace } }: UnstructuredObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
