import { cloneJson } from "@setpoint/apimachinery";

/** Deeper than any object that a server takes; what goes in circles is for `JSON.stringify` to refuse. */
const depthMax = 100;

/**
 * A copy of the value as JSON has it: fields that are undefined do not exist, what has `toJSON` is what that says. Throws what
 * `JSON.stringify` throws.
 */
export function asJson<T>(value: T): T {
  // JSON of JSON is the same type by construction.
  return isPlain(value, depthMax) ? cloneJson(value) : (JSON.parse(JSON.stringify(value)) as T);
}

/** Whether a copy is the same as JSON would make of it, which is several times as much work. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || depth === 0) return false;
  if (Array.isArray(value)) {
    // Not `every`, which passes over holes.
    for (let index = 0; index < value.length; index++) if (!isPlain(value[index], depth - 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const object = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(object))
    if (object[key] !== undefined && !isPlain(object[key], depth - 1)) return false;
  return true;
}
