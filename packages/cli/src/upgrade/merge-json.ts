/**
 * A three-way merge of JSON by fields, because two lines beside each other are a conflict to a merge by
 * lines.
 */
import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";

export interface Merged {
  readonly text: string;
  /** Where both sides have changed the same; the project's own was kept. */
  readonly conflicts: readonly string[];
}

/** Undefined when one of the texts is no object in JSON. */
export function mergeJson(base: string, mine: string, theirs: string): Merged | undefined {
  const [before, ours, next] = [base, mine, theirs].map(parse);
  if (before === undefined || ours === undefined || next === undefined) return undefined;
  const conflicts: string[] = [];
  const merged = mergeFields(before, ours, next, "", conflicts);
  return { text: `${JSON.stringify(merged, undefined, 2)}\n`, conflicts };
}

function mergeFields(
  base: JsonObject,
  mine: JsonObject,
  theirs: JsonObject,
  at: string,
  conflicts: string[],
): JsonObject {
  const merged: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(mine), ...Object.keys(theirs)])) {
    const value = mergeValue(base[name], mine[name], theirs[name], at === "" ? name : `${at}.${name}`, conflicts);
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}

/** Undefined: not there. */
function mergeValue(base: unknown, mine: unknown, theirs: unknown, at: string, conflicts: string[]): unknown {
  if (isSame(mine, theirs) || isSame(base, theirs)) return mine;
  if (isSame(base, mine)) return theirs;
  if (isJsonObject(mine) && isJsonObject(theirs))
    return mergeFields(isJsonObject(base) ? base : {}, mine, theirs, at, conflicts);
  conflicts.push(at);
  return mine;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
