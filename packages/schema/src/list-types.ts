/**
 * Checks `x-kubernetes-list-type`: no two equal items in a set, no two items of equal keys in a map.
 */
import type { FieldError } from "@setpoint/apimachinery";
import { indexPath, keyPath } from "./field-path.ts";
import { goJson, goValue } from "./go-value.ts";
import { isJsonObject } from "./json-object.ts";
import { rememberedOf } from "./has-rules.ts";
import type { StructuralSchema } from "./structural-schema.ts";

export function validateLists(schema: StructuralSchema, value: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (promisesUnique(schema)) visit(schema, value, "", errors);
  return errors;
}

const promisesUnique = rememberedOf(({ "x-kubernetes-list-type": type }) => type === "set" || type === "map");

/** The identity of a list item: its keys in a map, otherwise the whole item. */
export function itemKey(schema: StructuralSchema, item: unknown): string {
  if (schema["x-kubernetes-list-type"] !== "map") return goJson(item);
  // The usual case, without building an object: one key, whose value is a text. No JSON begins like this.
  const [key, ...others] = schema["x-kubernetes-list-map-keys"] ?? [];
  const value = key === undefined || others.length > 0 || !isJsonObject(item) ? undefined : item[key];
  return typeof value === "string" ? `=${value}` : goJson(keysOf(schema, item));
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
    if (items === undefined || !promisesUnique(items)) return;
    for (const [index, item] of value.entries()) visit(items, item, indexPath(path, index), errors);
  } else if (isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      if (typeof item !== "object") continue;
      const child =
        properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (typeof child === "object" && promisesUnique(child)) visit(child, item, keyPath(path, name), errors);
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
