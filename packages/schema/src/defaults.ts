/** Fills the defaults of a schema into a value, in place, as the API server does on every decode. */
import { cloneJson, setOwn } from "@setpoint/apimachinery";
import { isJsonObject } from "./json-object.ts";
import { rememberedOf } from "./has-rules.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * Sets what is missing, or null and not nullable, where the schema has a default. Never makes a parent that is absent; a
 * default that is an object gets the defaults of its own fields. A frozen part that lacks something is copied, so that what comes
 * back is the value itself or, if that is frozen, may be a copy of it.
 */
export function applyDefaults<T>(schema: StructuralSchema, value: T): T {
  return withDefaults(schema, value) as T;
}

function withDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (isJsonObject(value)) return planOf(schema).applyToObject(value);
  return Array.isArray(value) ? planOf(schema).applyToArray(value) : value;
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

/** What one schema node fills; computed once a schema, because every write asks. Where it has no defaults, nothing is looked at. */
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
        value = withField(value, key, cloneJson(property.default));
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
  return withDefaults(schema, replacesNull(schema, value) ? cloneJson(schema.default) : value);
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
