/**
 * Plain JSON values: compare, copy, freeze. These run on every write of the API server, so they are written for speed:
 * no closures, no iterators, `for in` over objects (JSON objects have no inherited enumerable keys).
 */

export type JsonObject = { readonly [key: string]: unknown };

/** Whether a value is a JSON object: not null, not an array, not a scalar. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function equalArrays(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (!deepEqual(a[index], b[index])) return false;
  return true;
}

/** Equality of JSON values; the order of keys does not count, a key whose value is undefined counts as absent. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalArrays(a, b);
  if (Array.isArray(b)) return false;
  const left = a as JsonObject;
  const right = b as JsonObject;
  let surplus = 0;
  for (const key in left) {
    const value = left[key];
    if (value === undefined) continue;
    if (!deepEqual(value, right[key])) return false;
    surplus++;
  }
  for (const key in right) if (right[key] !== undefined) surplus--;
  return surplus === 0;
}

/** A mutable copy of a JSON value; keys whose value is undefined are left out. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  // The copy has the shape of the original by construction.
  return (Array.isArray(value) ? cloneArray(value) : cloneObject(value as JsonObject)) as T;
}

function cloneArray(array: readonly unknown[]): unknown[] {
  const copy: unknown[] = [];
  for (let index = 0; index < array.length; index++) copy.push(cloneJson(array[index]));
  return copy;
}

function cloneObject(object: JsonObject): JsonObject {
  const copy: Record<string, unknown> = {};
  for (const key in object) {
    const value = object[key];
    if (value !== undefined) setOwn(copy, key, typeof value === "object" ? cloneJson(value) : value);
  }
  return copy;
}

/**
 * A mutable copy of one level of an object. Objects of the API come in more shapes than an engine keeps in mind for a spread, and
 * then a spread defines field after field; this takes the shape over as a whole.
 */
export function copyObject<T extends object>(object: T): { -readonly [K in keyof T]: T[K] } {
  // Assigned, `__proto__` would be taken for the prototype.
  return Object.hasOwn(object, "__proto__") ? { ...object } : Object.assign({}, object);
}

/** Sets a key that comes from outside: plain assignment would take `__proto__` for the prototype. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  else object[key] = value;
}

/**
 * Freezes a JSON value all the way down and returns it. A part that is frozen already is taken to be frozen deeply, so
 * that a new object sharing parts with an old one costs only its new parts.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) deepFreeze(value[index]);
  } else {
    const object = value as JsonObject;
    for (const key in object) {
      const child = object[key];
      if (typeof child === "object" && child !== null) deepFreeze(child);
    }
  }
  return Object.freeze(value);
}
