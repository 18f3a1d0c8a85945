/** Reads and fills plain JSON whose shape only the API's schema describes. */
import { deepEqual, encodeJson } from "@setpoint/apimachinery";

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object under a field, or an empty one that is not part of `parent`. */
export function objectAt(parent: unknown, ...path: readonly string[]): JsonObject {
  let current: unknown = parent;
  for (const field of path) current = isJsonObject(current) ? current[field] : undefined;
  return isJsonObject(current) ? current : {};
}

/** The object under a field; an empty one is put there when it is absent. */
export function ensureObject(parent: JsonObject, field: string): JsonObject {
  const present = parent[field];
  if (isJsonObject(present)) return present;
  const created: JsonObject = {};
  parent[field] = created;
  return created;
}

/** The objects of a list; anything else in it is skipped, because the schema reports it. */
export function objectsAt(parent: unknown, ...path: readonly string[]): readonly JsonObject[] {
  const value = valueAt(parent, ...path);
  if (!Array.isArray(value)) return noObjects;
  return value.every(isJsonObject) ? value : value.filter(isJsonObject);
}

const noObjects: readonly JsonObject[] = [];

export function stringAt(parent: unknown, ...path: readonly string[]): string {
  const value = valueAt(parent, ...path);
  return typeof value === "string" ? value : "";
}

export function numberAt(parent: unknown, ...path: readonly string[]): number | undefined {
  const value = valueAt(parent, ...path);
  // Beyond 2^53 the nearest number does for a decision.
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

export function valueAt(parent: unknown, ...path: readonly string[]): unknown {
  let current: unknown = parent;
  for (const field of path) current = isJsonObject(current) ? current[field] : undefined;
  return current;
}

/** Sets the fields that are absent; an empty string counts as absent, as in Go. */
export function fillDefaults(object: JsonObject, defaults: JsonObject): void {
  for (const field of Object.keys(defaults)) {
    const present = object[field];
    if (present === undefined || present === null || present === "") object[field] = defaults[field];
  }
}

/** Equality of JSON values, where the order of fields does not count and an absent field equals undefined. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left === "bigint" || typeof right === "bigint") return deepEqual(left, right);
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((each, index) => sameJson(each, right[index]));
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const fields = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...fields].every((field) => sameJson(left[field], right[field]));
}

/** Puts the old value of a field back, or removes the field when there was none. */
export function keepField(object: JsonObject, old: JsonObject, field: string): void {
  if (old[field] === undefined) delete object[field];
  else object[field] = old[field];
}

/** A scalar as text; anything else as its JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : encodeJson(value);
}
