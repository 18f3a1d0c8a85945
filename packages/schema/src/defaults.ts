/** Fills the defaults of a schema into a value, in place, as the API server does on every decode. */
import { ApiError, cloneJson, failure, setOwn } from "@setpoint/apimachinery";
import { isJsonObject } from "./json-object.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * About twice the characters that an object may have: a large default of a list's items fills any memory
 * otherwise.
 */
const filledUnitsMax = 3 * 1024 * 1024;
const unitsOfValue = 4;

/**
 * Sets what is missing, or null and not nullable, where the schema has a default. Never makes a parent that
 * is absent; a default that is an object gets the defaults of its own fields.
 *
 * Errors: `ApiError` 413 when the defaults alone make more of the value than may be stored.
 */
export function applyDefaults(schema: StructuralSchema, value: unknown): void {
  new DefaultsWalk().fill(schema, value);
}

class DefaultsWalk {
  #filledUnits = 0;

  fill(schema: StructuralSchema, value: unknown): void {
    if (isJsonObject(value)) this.#fillObject(schema, value);
    else if (Array.isArray(value)) this.#fillItems(schema, value);
  }

  #fillObject(schema: StructuralSchema, object: Record<string, unknown>): void {
    for (const [key, property] of propertiesWithDefaults(schema)) {
      const present = Object.hasOwn(object, key) ? object[key] : undefined;
      const isMissing = present === undefined && property.default !== undefined;
      const value = isMissing || replacesNull(property, present) ? this.#defaultOf(property) : present;
      if (value !== present) setOwn(object, key, value);
      this.fill(property, value);
    }
    const { properties = {}, additionalProperties } = schema;
    if (typeof additionalProperties !== "object") return;
    for (const [key, value] of Object.entries(object)) {
      if (Object.hasOwn(properties, key)) continue;
      if (replacesNull(additionalProperties, value)) setOwn(object, key, this.#defaultOf(additionalProperties));
      this.fill(additionalProperties, object[key]);
    }
  }

  #fillItems({ items }: StructuralSchema, array: unknown[]): void {
    if (items === undefined) return;
    for (const [index, item] of array.entries()) {
      if (replacesNull(items, item)) array[index] = this.#defaultOf(items);
      this.fill(items, array[index]);
    }
  }

  #defaultOf(schema: StructuralSchema): unknown {
    this.#filledUnits += unitsOf(schema.default);
    if (this.#filledUnits <= filledUnitsMax) return cloneJson(schema.default);
    const message = `Request entity too large: the defaults of its schema add more than ${filledUnitsMax} characters`;
    throw new ApiError(failure(413, "RequestEntityTooLarge", message));
  }
}

const foundProperties = new WeakMap<StructuralSchema, readonly (readonly [string, StructuralSchema])[]>();

/** The properties that have a default themselves or below: a few of the hundreds that a kind may have. */
function propertiesWithDefaults(schema: StructuralSchema): readonly (readonly [string, StructuralSchema])[] {
  const known = foundProperties.get(schema);
  if (known !== undefined) return known;
  const found = Object.entries(schema.properties ?? {}).filter(([, property]) => hasDefault(property));
  foundProperties.set(schema, found);
  return found;
}

function hasDefault(schema: StructuralSchema, visited: Set<StructuralSchema> = new Set()): boolean {
  if (schema.default !== undefined) return true;
  if (visited.has(schema)) return false;
  visited.add(schema);
  const { properties = {}, additionalProperties, items } = schema;
  const children = [...Object.values(properties), additionalProperties, items];
  return children.some((child) => typeof child === "object" && hasDefault(child, visited));
}

function unitsOf(value: unknown): number {
  if (typeof value === "string") return unitsOfValue + value.length;
  if (typeof value !== "object" || value === null) return unitsOfValue;
  return Object.entries(value).reduce((sum, [key, each]) => sum + key.length + unitsOf(each), unitsOfValue);
}

function replacesNull(schema: StructuralSchema, value: unknown): boolean {
  return value === null && schema.nullable !== true && schema.default !== undefined;
}
