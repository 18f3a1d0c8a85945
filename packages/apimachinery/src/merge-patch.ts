/** JSON merge patches (RFC 7386): apply one, or make the one that leads from one value to another. */
import { cloneJson, deepEqual, isJsonObject, type JsonObject } from "./json-value.ts";

/** The target with the patch applied: null deletes, objects merge, everything else replaces. Neither argument is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return cloneJson(patch);
  const result: Record<string, unknown> = isJsonObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const change = patch[key];
    if (change === null) delete result[key];
    else if (change !== undefined) result[key] = mergePatch(result[key], change);
  }
  return result;
}

/**
 * The smallest merge patch that leads from `from` to `to`; an empty object when they are equal.
 *
 * Caveats: a merge patch cannot set null, so nulls in objects of `to` come out as absent keys.
 */
export function createMergePatch(from: JsonObject, to: JsonObject): JsonObject {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(from)) {
    if (from[key] !== undefined && (to[key] === undefined || to[key] === null)) patch[key] = null;
  }
  for (const key of Object.keys(to)) {
    const after = to[key];
    const before = from[key];
    if (after === undefined || after === null || deepEqual(before, after)) continue;
    patch[key] = isJsonObject(after) ? createMergePatch(isJsonObject(before) ? before : {}, after) : cloneJson(after);
  }
  return patch;
}
