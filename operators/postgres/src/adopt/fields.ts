/** Reads the fields of a manifest, and says which one has a value of another type than CloudNativePG's. */
import { parseQuantity } from "setpoint/kinds";

/** The input is no manifest of CloudNativePG. */
export class InputRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InputRefused";
  }

  /** Of a field with a value of another type. */
  static at(object: string, path: string, expected: string, value: unknown): InputRefused {
    const got = value === undefined ? "nothing" : JSON.stringify(value);
    return new InputRefused(`Cannot read ${object}: ${path}: expected ${expected}, got ${got}`);
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isQuantity(value: unknown): value is string | number {
  if (!isText(value) && typeof value !== "number") return false;
  try {
    parseQuantity(String(value));
    return true;
  } catch {
    return false;
  }
}

/** An object of a manifest, with its path. A field with null is absent, as for Kubernetes. */
export class Fields {
  readonly object: string;
  readonly path: string;
  readonly value: JsonObject;

  constructor(object: string, path: string, value: JsonObject) {
    this.object = object;
    this.path = path;
    this.value = value;
  }

  /** Of a value that must be an object; `undefined` is one without fields. */
  static of(object: string, path: string, value: unknown): Fields {
    if (value !== undefined && value !== null && !isObject(value))
      throw InputRefused.at(object, path, "an object", value);
    return new Fields(object, path, isObject(value) ? value : {});
  }

  at(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    return this.#get(name) !== undefined;
  }

  text(name: string): string | undefined {
    return this.#typed(name, "text", isText);
  }

  requiredText(name: string): string {
    return this.text(name) ?? this.#refuse(name, "text");
  }

  number(name: string): number | undefined {
    return this.#typed(name, "a whole number", (value): value is number => Number.isSafeInteger(value));
  }

  boolean(name: string): boolean | undefined {
    return this.#typed(name, "true or false", (value): value is boolean => typeof value === "boolean");
  }

  texts(name: string): readonly string[] {
    const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText);
    return this.#typed(name, "a list of texts", isTexts) ?? [];
  }

  /** Names and texts. */
  map(name: string): Readonly<Record<string, string>> {
    const given = this.fields(name);
    for (const key of Object.keys(given.value)) given.text(key);
    return given.value as Readonly<Record<string, string>>;
  }

  /** Sizes of resources may be numbers. */
  quantities(name: string): Readonly<Record<string, string>> {
    const given = this.fields(name);
    return Object.fromEntries(Object.keys(given.value).map((key) => [key, given.quantity(key) ?? ""]));
  }

  quantity(name: string): string | undefined {
    const value = this.#typed(name, "a quantity such as 8Gi", isQuantity);
    return value === undefined ? undefined : String(value);
  }

  /** An absent object has no fields. */
  fields(name: string): Fields {
    return Fields.of(this.object, this.at(name), this.value[name]);
  }

  list(name: string): readonly Fields[] {
    const items = this.#typed(name, "a list", (value): value is readonly unknown[] => Array.isArray(value)) ?? [];
    return items.map((item, index) => Fields.of(this.object, `${this.at(name)}[${index}]`, item));
  }

  #get(name: string): unknown {
    return this.value[name] ?? undefined;
  }

  #typed<T>(name: string, expected: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.#get(name);
    if (value === undefined || is(value)) return value;
    return this.#refuse(name, expected);
  }

  #refuse(name: string, expected: string): never {
    throw InputRefused.at(this.object, this.at(name), expected, this.#get(name));
  }
}
