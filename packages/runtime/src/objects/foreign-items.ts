import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import { covers } from "./covers.ts";

/**
 * A merge patch that replaces the lists of `wanted` in which `actual` has other items; undefined without such
 * a list. Metadata stays: other controllers add owners and finalizers too.
 */
export function withoutForeignItems(actual: object, wanted: object): JsonObject | undefined {
  const { metadata: _, ...fields } = wanted as JsonObject;
  return changeOf(actual as JsonObject, fields);
}

function changeOf(actual: JsonObject, wanted: JsonObject): JsonObject | undefined {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(wanted)) {
    const present = actual[name];
    const change = Array.isArray(value) ? listChange(present, value) : mapChange(present, value);
    if (change !== undefined) changes[name] = change;
  }
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function mapChange(actual: unknown, wanted: unknown): JsonObject | undefined {
  return isJsonObject(actual) && isJsonObject(wanted) ? changeOf(actual, wanted) : undefined;
}

function listChange(actual: unknown, wanted: readonly unknown[]): readonly unknown[] | undefined {
  if (!Array.isArray(actual)) return undefined;
  return actual.every((item) => wanted.some((each) => covers(item, each))) ? undefined : wanted;
}
