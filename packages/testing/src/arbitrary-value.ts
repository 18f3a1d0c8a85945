/** Random values that a schema allows, small ones more often than large ones. */
import { encodeJson } from "@setpoint/apimachinery";
import type { Random } from "@setpoint/host";
import { type StructuralSchema, validateSchema } from "@setpoint/schema";

/** Deeper than this, optional fields and items are left out, so that a schema which contains itself ends. */
const depthMax = 6;
const itemsMax = 3;
/** How often another text is tried for a pattern. */
const textAttemptsMax = 20;

/** Texts that the formats and patterns of usual kinds allow; a pattern takes those that it matches. */
const texts: readonly string[] = [
  "",
  "a",
  "web-0",
  "Value",
  "ümläut ✓",
  "example.com",
  "https://example.com/x",
  "ada@example.com",
  "10.0.0.1",
  "10.0.0.0/8",
  "::1",
  "500m",
  "1Gi",
  "0",
  "90s",
  "1h30m",
  "2026-01-02T03:04:05Z",
  "2026-01-02",
  "123e4567-e89b-42d3-a456-426614174000",
  "YWJj",
  "#a0b1c2",
];

/** Thrown for a field for which no allowed value was found; only the author knows one. */
export class NoValue extends Error {}

/** `samples` are values by path (`spec.image`) for fields whose texts cannot be guessed. */
export class ValueMaker {
  readonly #random: Random;
  readonly #samples: Readonly<Record<string, readonly unknown[]>>;

  constructor(random: Random, samples: Readonly<Record<string, readonly unknown[]>> = {}) {
    this.#random = random;
    this.#samples = samples;
  }

  make(schema: StructuralSchema, path: string, depth = 0): unknown {
    const samples = this.#samples[path];
    if (samples !== undefined) return this.#pick(samples);
    if (schema.nullable === true && this.#chance(0.1)) return null;
    if (schema.enum !== undefined) return this.#pick(schema.enum);
    if (schema["x-kubernetes-int-or-string"] === true) return this.#pick([0, 1, 80, "http", "25%"]);
    switch (schema.type) {
      case "object":
        return this.#object(schema, path, depth);
      case "array":
        return this.#array(schema, path, depth);
      case "string":
        return this.#text(schema, path);
      case "integer":
      case "number":
        return this.#number(schema);
      case "boolean":
        return this.#chance(0.5);
      default:
        return { any: "thing" };
    }
  }

  #object(schema: StructuralSchema, path: string, depth: number): Readonly<Record<string, unknown>> {
    const object: Record<string, unknown> = {};
    const required = new Set(schema.required ?? []);
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      const isWanted = required.has(name) || (depth < depthMax && this.#chance(0.6));
      if (isWanted) this.#addField(object, name, child, `${path}.${name}`, required.has(name), depth);
    }
    const { additionalProperties: values } = schema;
    if (typeof values === "object" && depth < depthMax) {
      for (const key of ["a", "key-2", "example.com/x"].slice(0, this.#below(itemsMax + 1))) {
        this.#addField(object, key, values, `${path}.*`, false, depth);
      }
    }
    if (schema["x-kubernetes-preserve-unknown-fields"] === true && this.#chance(0.5)) object["unknown"] = { deep: [1] };
    return object;
  }

  #addField(
    object: Record<string, unknown>,
    name: string,
    schema: StructuralSchema,
    path: string,
    isRequired: boolean,
    depth: number,
  ): void {
    try {
      object[name] = this.make(schema, path, depth + 1);
    } catch (error) {
      if (isRequired || !(error instanceof NoValue)) throw error;
    }
  }

  #array(schema: StructuralSchema, path: string, depth: number): readonly unknown[] {
    const { items = {}, minItems = 0, maxItems = itemsMax } = schema;
    const wanted = depth >= depthMax ? minItems : minItems + this.#below(Math.min(maxItems, itemsMax) - minItems + 1);
    const made = Array.from({ length: Math.max(wanted, 0) }, () => this.make(items, `${path}[]`, depth + 1));
    const keys = schema["x-kubernetes-list-map-keys"];
    if (schema["x-kubernetes-list-type"] === "set") return distinct(made, (item) => encodeJson(item));
    return keys === undefined ? made : distinct(made, (item) => keyText(item, keys));
  }

  #text(schema: StructuralSchema, path: string): string {
    for (let attempt = 0; attempt < textAttemptsMax; attempt++) {
      const text = this.#anyText(schema);
      if (isAllowed(schema, text)) return text;
    }
    const known = [schema.default, schema.example, ...texts].find(
      (text): text is string => typeof text === "string" && isAllowed(schema, text),
    );
    if (known !== undefined) return known;
    throw new NoValue(`no text is known for "${path}"; name some in \`samples\``);
  }

  #anyText({ minLength = 0, maxLength = 12, pattern, format }: StructuralSchema): string {
    if (pattern !== undefined || format !== undefined || this.#chance(0.5)) return this.#pick(texts);
    const length = minLength + this.#below(Math.min(maxLength - minLength, 12) + 1);
    return Array.from({ length }, () => this.#pick(["a", "b", "z", "0", "-", "."])).join("");
  }

  #number({ type, minimum = -5, maximum = minimum + 10, multipleOf = 1 }: StructuralSchema): number {
    const edges = [minimum, maximum, 0, 1].filter((value) => value >= minimum && value <= maximum);
    const between = minimum + this.#random.next() * Math.min(maximum - minimum, 1_000_000);
    const value = this.#chance(0.3) ? this.#pick(edges) : between;
    const whole = type === "integer" || multipleOf !== 1 ? Math.round(value / multipleOf) * multipleOf : value;
    return Math.min(Math.max(whole, minimum), maximum);
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * Math.max(limit, 1));
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[this.#below(values.length)];
    if (value === undefined && values.length === 0) throw new NoValue("no value to choose from");
    // The index is within the list.
    return value as T;
  }
}

function isAllowed(schema: StructuralSchema, text: string): boolean {
  return validateSchema(schema, text).length === 0;
}

function distinct(items: readonly unknown[], keyOf: (item: unknown) => string): readonly unknown[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

function keyText(item: unknown, keys: readonly string[]): string {
  const object = (typeof item === "object" && item !== null ? item : {}) as Readonly<Record<string, unknown>>;
  return encodeJson(keys.map((key) => object[key]));
}
