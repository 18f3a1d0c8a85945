/**
 * The limits of a schema as plain numbers: in a CustomResourceDefinition one may be an integer beyond 2^53.
 */
import type { StructuralSchema } from "./structural-schema.ts";

const limits = [
  "minimum",
  "maximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const;

const branches = ["allOf", "anyOf", "oneOf"] as const;

const known = new WeakMap<StructuralSchema, StructuralSchema>();

/** The schema itself unless it has such a limit; what it allows and its defaults stay exact. */
export function plainLimits(schema: StructuralSchema): StructuralSchema {
  let plain = known.get(schema);
  if (plain === undefined) {
    plain = converted(schema);
    known.set(schema, plain);
  }
  return plain;
}

function converted(schema: StructuralSchema): StructuralSchema {
  const changes: Record<string, unknown> = {};
  for (const limit of limits) {
    const value: unknown = schema[limit];
    if (typeof value === "bigint") changes[limit] = Number(value);
  }
  const { properties, additionalProperties, items, not } = schema;
  if (properties !== undefined) put(changes, "properties", properties, convertedMap(properties));
  if (typeof additionalProperties === "object")
    put(changes, "additionalProperties", additionalProperties, plainLimits(additionalProperties));
  if (items !== undefined) put(changes, "items", items, plainLimits(items));
  if (not !== undefined) put(changes, "not", not, plainLimits(not));
  for (const branch of branches) {
    const list = schema[branch];
    const plain = list?.map(plainLimits);
    if (plain?.some((each, index) => each !== list?.[index])) changes[branch] = plain;
  }
  return Object.keys(changes).length === 0 ? schema : { ...schema, ...changes };
}

function put(changes: Record<string, unknown>, keyword: string, before: unknown, after: unknown): void {
  if (after !== before) changes[keyword] = after;
}

function convertedMap(
  properties: Readonly<Record<string, StructuralSchema>>,
): Readonly<Record<string, StructuralSchema>> {
  const entries = Object.entries(properties).map(([name, schema]) => [name, plainLimits(schema)] as const);
  return entries.every(([name, schema]) => properties[name] === schema) ? properties : Object.fromEntries(entries);
}
