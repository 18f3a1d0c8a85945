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
    for (const [key, property] of propertiesWithDefault(schema)) {
      const present = Object.hasOwn(object, key) ? object[key] : undefined;
      if (present === undefined || replacesNull(property, present)) setOwn(object, key, this.#defaultOf(property));
    }
    const { properties = {}, additionalProperties } = schema;
    for (const [key, value] of Object.entries(object)) {
      const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (property !== undefined) this.fill(property, value);
      else if (typeof additionalProperties === "object") {
        if (replacesNull(additionalProperties, value)) setOwn(object, key, this.#defaultOf(additionalProperties));
        this.fill(additionalProperties, object[key]);
      }
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

const found = new WeakMap<StructuralSchema, readonly (readonly [string, StructuralSchema])[]>();

/** The properties that have a default: a few of the hundreds that a kind may have. */
function propertiesWithDefault(schema: StructuralSchema): readonly (readonly [string, StructuralSchema])[] {
  const known = found.get(schema);
  if (known !== undefined) return known;
  const properties = Object.entries(schema.properties ?? {}).filter(([, property]) => property.default !== undefined);
  found.set(schema, properties);
  return properties;
}

function unitsOf(value: unknown): number {
  if (typeof value === "string") return unitsOfValue + value.length;
  if (typeof value !== "object" || value === null) return unitsOfValue;
  return Object.entries(value).reduce((sum, [key, each]) => sum + key.length + unitsOf(each), unitsOfValue);
}

function replacesNull(schema: StructuralSchema, value: unknown): boolean {
  return value === null && schema.nullable !== true && schema.default !== undefined;
}
