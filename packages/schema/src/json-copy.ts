/** Copies JSON values, so that a default or a request's body is never shared with what is stored. */

export function copyJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy: Record<string, unknown> = {};
  for (const key in value) setOwn(copy, key, copyJson((value as Record<string, unknown>)[key]));
  return copy;
}

/** Sets a field whose name comes from outside; a plain assignment to `__proto__` would change the prototype instead. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
