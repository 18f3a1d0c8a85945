import { decodeJson, encodeJson, exactInteger, setOwn } from "@setpoint/apimachinery";

/** Deeper than any object that a server takes; what goes in circles is for `JSON.stringify` to refuse. */
const depthMax = 100;

/** Stands for what JSON does not have as it is. */
const notPlain = Symbol("not plain");

/**
 * A copy of the value as JSON has it: fields that are undefined do not exist, what has `toJSON` is what that
 * says. Throws what `JSON.stringify` throws.
 */
export function asJson<T>(value: T): T {
  const copy = plainCopy(value, depthMax);
  // JSON of JSON is the same type by construction.
  return (copy === notPlain ? decodeJson(encodeJson(value)) : copy) as T;
}

/** A copy, several times as fast as JSON would make the same one; `notPlain` where that would be another. */
function plainCopy(value: unknown, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : notPlain;
  if (typeof value === "bigint") return exactInteger(value);
  if (typeof value !== "object" || depth === 0) return notPlain;
  return Array.isArray(value) ? plainArray(value, depth) : plainObject(value, depth);
}

function plainArray(array: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = [];
  // Not `map`, which passes over holes.
  for (let index = 0; index < array.length; index++) {
    const each = plainCopy(array[index], depth - 1);
    if (each === notPlain) return notPlain;
    copy.push(each);
  }
  return copy;
}

function plainObject(value: object, depth: number): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return notPlain;
  const object = value as Readonly<Record<string, unknown>>;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const field = object[key];
    if (field === undefined) continue;
    const each = plainCopy(field, depth - 1);
    if (each === notPlain) return notPlain;
    setOwn(copy, key, each);
  }
  return copy;
}
