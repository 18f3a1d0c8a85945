/** Fills the defaults of a schema into a value, in place, as the API server does on every decode. */
import { cloneJson, setOwn } from "@setpoint/apimachinery";
import { isJsonObject } from "./json-object.ts";
import { rememberedOf } from "./has-rules.ts";
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

  applyToObject(value: Record<string, unknown>): void {
    for (const [key, property] of this.#own) {
      const present = value[key];
      if (present === undefined || (present === null && property.nullable !== true)) {
        value[key] = cloneJson(property.default);
      }
    }
    for (const [key, property] of this.#within) if (Object.hasOwn(value, key)) applyWithin(property, value[key]);
    if (this.#additional === undefined) return;
    for (const key in value)
      if (!Object.hasOwn(this.#properties, key)) this.#applyToEntry(this.#additional, value, key);
  }

  #applyToEntry(schema: StructuralSchema, value: Record<string, unknown>, key: string): void {
    if (replacesNull(schema, value[key])) setOwn(value, key, cloneJson(schema.default));
    applyWithin(schema, value[key]);
  }

  applyToArray(value: unknown[]): void {
    const items = this.#items;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (replacesNull(items, item)) value[index] = cloneJson(items.default);
      applyWithin(items, value[index]);
    }
  }
}

function ifFilling(schema: StructuralSchema | boolean | undefined): StructuralSchema | undefined {
  return typeof schema === "object" && hasDefaults(schema) ? schema : undefined;
}

function applyWithin(schema: StructuralSchema, value: unknown): void {
  if (typeof value === "object" && value !== null) applyDefaults(schema, value);
}

function replacesNull(schema: StructuralSchema, value: unknown): boolean {
  return value === null && schema.nullable !== true && schema.default !== undefined;
}
