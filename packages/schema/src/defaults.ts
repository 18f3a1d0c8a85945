/** Fills the defaults of a schema into a value, in place, as the API server does on every decode. */
import { copyJson, isJsonObject, setOwn } from "./json-copy.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/**
 * Sets what is missing, or null and not nullable, where the schema has a default. Never makes a parent that is absent; a
 * default that is an object gets the defaults of its own fields.
 */
export function applyDefaults(schema: StructuralSchema, value: unknown): void {
  if (isJsonObject(value)) planOf(schema).applyToObject(value);
  else if (Array.isArray(value)) planOf(schema).applyToArray(value);
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

/** What one schema node fills; computed once a schema, because every write asks. */
class DefaultsPlan {
  readonly #schema: StructuralSchema;
  readonly #own: readonly (readonly [string, StructuralSchema])[];
  readonly #additional: StructuralSchema | undefined;

  constructor(schema: StructuralSchema) {
    const { properties = {}, additionalProperties } = schema;
    this.#schema = schema;
    this.#own = Object.entries(properties).filter(([, property]) => property.default !== undefined);
    this.#additional = typeof additionalProperties === "object" ? additionalProperties : undefined;
  }

  applyToObject(value: Record<string, unknown>): void {
    for (const [key, property] of this.#own) {
      const present = value[key];
      if (present === undefined || (present === null && property.nullable !== true)) {
        value[key] = copyJson(property.default);
      }
    }
    const { properties } = this.#schema;
    for (const key in value) {
      const property = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (property !== undefined) applyWithin(property, value[key]);
      else if (this.#additional !== undefined) this.#applyToEntry(this.#additional, value, key);
    }
  }

  #applyToEntry(schema: StructuralSchema, value: Record<string, unknown>, key: string): void {
    if (replacesNull(schema, value[key])) setOwn(value, key, copyJson(schema.default));
    applyWithin(schema, value[key]);
  }

  applyToArray(value: unknown[]): void {
    const { items } = this.#schema;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (replacesNull(items, item)) value[index] = copyJson(items.default);
      applyWithin(items, value[index]);
    }
  }
}

function applyWithin(schema: StructuralSchema, value: unknown): void {
  if (typeof value === "object" && value !== null) applyDefaults(schema, value);
}

function replacesNull(schema: StructuralSchema, value: unknown): boolean {
  return value === null && schema.nullable !== true && schema.default !== undefined;
}
