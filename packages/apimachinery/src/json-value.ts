/** Plain JSON values: compare, copy, freeze. Integers that a number may not hold exactly are a `bigint`. */
import { exactInteger } from "./json-text.ts";

export type JsonObject = { readonly [key: string]: unknown };

/** Whether a value is a JSON object: not null, not an array, not a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Equality of JSON values; the order of keys does not matter, and a key whose value is undefined is absent.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((value, index) => deepEqual(value, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return isSameInteger(a, b);
  return hasAllOf(a, b) && Object.keys(b).every((key) => b[key] === undefined || Object.hasOwn(a, key));
}

/** A program may write a small integer as a bigint, which is a number when it comes back. */
function isSameInteger(a: unknown, b: unknown): boolean {
  if (typeof a === "bigint") return typeof b === "number" && Number.isSafeInteger(b) && a === BigInt(b);
  return typeof b === "bigint" && isSameInteger(b, a);
}

/** Whether `b` has all keys of `a`, with equal values. */
function hasAllOf(a: JsonObject, b: JsonObject): boolean {
  return Object.keys(a).every((key) => deepEqual(a[key], Object.hasOwn(b, key) ? b[key] : undefined));
}

/** A mutable copy of a JSON value; keys whose value is undefined are left out. */
export function cloneJson<T>(value: T): T {
  // The copy has the shape of the original by construction.
  return cloned(value) as T;
}

function cloned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloned);
  if (!isJsonObject(value)) return typeof value === "bigint" ? exactInteger(value) : value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) if (value[key] !== undefined) setOwn(copy, key, cloned(value[key]));
  return copy;
}

/** A mutable copy of one level of an object. */
export function copyObject<T extends object>(object: T): { -readonly [K in keyof T]: T[K] } {
  return { ...object };
}

/** Sets a key from a request: plain assignment would set the prototype for `__proto__`. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/**
 * Freezes a JSON value all the way down and returns it. A part that is frozen already is taken to be frozen
 * deeply, so that a new object sharing parts with an old one costs only its new parts.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
