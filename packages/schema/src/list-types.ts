/**
 * Checks `x-kubernetes-list-type`: no two equal items in a set, no two items of equal keys in a map.
 */
import type { FieldError } from "@setpoint/apimachinery";
import { indexPath, keyPath } from "./field-path.ts";
import { goJson, goValue } from "./go-value.ts";
import { isJsonObject } from "./json-object.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export function validateLists(schema: StructuralSchema, value: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, value, "", errors);
  return errors;
}

/** The identity of a list item: its keys in a map, otherwise the whole item. */
export function itemKey(schema: StructuralSchema, item: unknown): string {
  return goJson(schema["x-kubernetes-list-type"] === "map" ? keysOf(schema, item) : item);
}

function keysOf(schema: StructuralSchema, item: unknown): unknown {
  if (!isJsonObject(item)) return item;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return Object.fromEntries(keys.filter((key) => item[key] !== undefined).map((key) => [key, item[key]]));
}

function visit(schema: StructuralSchema, value: unknown, path: string, errors: FieldError[]): void {
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) {
    reportDuplicates(schema, value, path, errors);
    if (items === undefined) return;
    for (const [index, item] of value.entries()) visit(items, item, indexPath(path, index), errors);
  } else if (isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      if (typeof item !== "object") continue;
      const child =
        properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (typeof child === "object") visit(child, item, keyPath(path, name), errors);
    }
  }
}

/** A value that is there many times is named once, at its second place. */
function reportDuplicates(
  schema: StructuralSchema,
  items: readonly unknown[],
  path: string,
  errors: FieldError[],
): void {
  const type = schema["x-kubernetes-list-type"];
  if (type !== "set" && type !== "map") return;
  const counts = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const key = itemKey(schema, item);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count !== 2) continue;
    const printed = goValue(type === "map" ? keysOf(schema, item) : item);
    errors.push({ type: "FieldValueDuplicate", field: indexPath(path, index), message: `Duplicate value: ${printed}` });
  }
}
