/** Fills the defaults of a schema into a value, in place, as the API server does on every decode. */
import { ApiError, cloneJson, failure, setOwn } from "@setpoint/apimachinery";
import { isJsonObject } from "./json-object.ts";
import { rememberedOf } from "./has-rules.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * Sets what is missing, or null and not nullable, where the schema has a default. Never makes a parent that
 * is absent; a default that is an object gets the defaults of its own fields. A frozen part that lacks
 * something is copied, so that what comes back is the value itself or, if that is frozen, may be a copy of
 * it.
 *
 * Errors: `ApiError` 413 when the defaults alone make more of the value than may be stored.
 */
export function applyDefaults<T>(schema: StructuralSchema, value: T): T {
  filledUnits = 0;
  return withDefaults(schema, value) as T;
}

function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (isJsonObject(value)) return planOf(schema).applyToObject(value);
  return Array.isArray(value) ? planOf(schema).applyToArray(value) : value;
}

/**
 * About twice the characters that an object may have: a large default of a list's items fills any memory
 * otherwise.
 */
const filledUnitsMax = 3 * 1024 * 1024;
const unitsOfValue = 4;
/** State of the current call; filling is synchronous. */
let filledUnits = 0;
const unitsOfDefault = new WeakMap<StructuralSchema, number>();

function defaultOf(schema: StructuralSchema): unknown {
  let units = unitsOfDefault.get(schema);
  if (units === undefined) unitsOfDefault.set(schema, (units = unitsOf(schema.default)));
  filledUnits += units;
  if (filledUnits <= filledUnitsMax) return cloneJson(schema.default);
  const message = `Request entity too large: the defaults of its schema add more than ${filledUnitsMax} characters`;
  throw new ApiError(failure(413, "RequestEntityTooLarge", message));
}

function unitsOf(value: unknown): number {
  if (typeof value === "string") return unitsOfValue + value.length;
  if (typeof value !== "object" || value === null) return unitsOfValue;
  return Object.entries(value).reduce((sum, [key, each]) => sum + key.length + unitsOf(each), unitsOfValue);
}

const plans = new WeakMap<StructuralSchema, DefaultsPlan>();

function planOf(schema: StructuralSchema): DefaultsPlan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = new DefaultsPlan(schema);
    plans.set(schema, plan);
  }
  return plan;
}

const hasDefaults = rememberedOf((schema) => schema.default !== undefined);

/**
 * What one schema node fills; computed once a schema, because every write asks. Where it has no defaults,
 * nothing is looked at.
 */
class DefaultsPlan {
  readonly #own: readonly (readonly [string, StructuralSchema])[];
  readonly #within: readonly (readonly [string, StructuralSchema])[];
  readonly #additional: StructuralSchema | undefined;
  readonly #items: StructuralSchema | undefined;
  readonly #properties: NonNullable<StructuralSchema["properties"]>;

  constructor({ properties = {}, additionalProperties, items }: StructuralSchema) {
    const fields = Object.entries(properties);
    this.#properties = properties;
    this.#own = fields.filter(([, property]) => property.default !== undefined);
    this.#within = fields.filter(([, property]) => hasDefaults(property));
    this.#additional = ifFilling(additionalProperties);
    this.#items = ifFilling(items);
  }

  applyToObject(given: Record<string, unknown>): Record<string, unknown> {
    let value = given;
    for (const [key, property] of this.#own) {
      if (value[key] === undefined || replacesNull(property, value[key]))
        value = withField(value, key, defaultOf(property));
    }
    for (const [key, property] of this.#within) {
      if (Object.hasOwn(value, key)) value = withField(value, key, withDefaults(property, value[key]));
    }
    if (this.#additional === undefined) return value;
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(this.#properties, key)) value = withField(value, key, filled(this.#additional, value[key]));
    }
    return value;
  }

  applyToArray(given: unknown[]): unknown[] {
    const items = this.#items;
    if (items === undefined) return given;
    let value = given;
    for (const [index, item] of given.entries()) {
      const next = filled(items, item);
      if (next === item) continue;
      if (Object.isFrozen(value)) value = [...value];
      value[index] = next;
    }
    return value;
  }
}

function filled(schema: StructuralSchema, value: unknown): unknown {
  return withDefaults(schema, replacesNull(schema, value) ? defaultOf(schema) : value);
}

function withField(object: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  if (object[key] === value) return object;
  const open = Object.isFrozen(object) ? { ...object } : object;
  setOwn(open, key, value);
  return open;
}

function ifFilling(schema: StructuralSchema | boolean | undefined): StructuralSchema | undefined {
  return typeof schema === "object" && hasDefaults(schema) ? schema : undefined;
}

function replacesNull(schema: StructuralSchema, value: unknown): boolean {
  return value === null && schema.nullable !== true && schema.default !== undefined;
}
