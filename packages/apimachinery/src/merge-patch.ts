/** JSON merge patches (RFC 7386): applies one, or computes the one that changes one value into another. */
import { cloneJson, deepEqual, isJsonObject, type JsonObject, setOwn } from "./json-value.ts";

/**
 * The target with the patch applied: null deletes, objects merge, everything else replaces. Neither argument
 * is changed and the result shares nothing with them.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  return cloneJson(mergedPatch(target, patch));
}

/**
 * As `mergePatch`, but the result shares with the target what the patch leaves alone, and values with the
 * patch.
 */
export function mergedPatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const before = isJsonObject(target) ? target : {};
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(before)) if (own(patch, key) === undefined) setOwn(result, key, before[key]);
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change !== null && change !== undefined) setOwn(result, key, mergedPatch(own(before, key), change));
  }
  return result;
}

/** Reads a key that may be `__proto__`. */
function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * The smallest merge patch that leads from `from` to `to`; an empty object when they are equal.
 *
 * Caveats: a merge patch cannot set null, so nulls in objects of `to` come out as absent keys.
 */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const [key, before] of Object.entries(from)) {
    if (before !== undefined && (own(to, key) ?? null) === null) setOwn(patch, key, null);
  }
  for (const [key, after] of Object.entries(to)) {
    const before = own(from, key);
    if (after === undefined || after === null || deepEqual(before, after)) continue;
    const base = isJsonObject(before) ? before : {};
    setOwn(patch, key, isJsonObject(after) ? createMergePatch(base, after) : cloneJson(after));
  }
  return patch;
}
