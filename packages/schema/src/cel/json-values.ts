/** JSON without a schema as CEL values. */
import { exactInteger, isJsonInteger } from "@setpoint/apimachinery";
import { CelList, CelMap, CelOptional, CelUint, type Value } from "./value.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Whole numbers are int, others double, as Kubernetes reads JSON; values that JSON does not have are null.
 */
export function jsonValue(json: unknown): Value {
  switch (typeof json) {
    case "string":
    case "boolean":
      return json;
    case "number":
    case "bigint":
      return isJsonInteger(json) ? BigInt(json) : json;
    case "object":
      if (json === null) return null;
      return Array.isArray(json) ? new JsonList(json) : new JsonMap(json as Json);
    default:
      return null;
  }
}

class JsonList extends CelList {
  readonly #json: readonly unknown[];

  constructor(json: readonly unknown[]) {
    super();
    this.#json = json;
  }

  get length(): number {
    return this.#json.length;
  }

  get(index: number): Value {
    return jsonValue(this.#json[index]);
  }
}

class JsonMap extends CelMap {
  readonly #json: Json;

  constructor(json: Json) {
    super();
    this.#json = json;
  }

  get size(): number {
    return Object.keys(this.#json).length;
  }

  get(key: Value): Value | undefined {
    return typeof key === "string" && Object.hasOwn(this.#json, key) ? jsonValue(this.#json[key]) : undefined;
  }

  keys(): readonly Value[] {
    return Object.keys(this.#json);
  }
}

/** The way back, for results; values without a JSON form are null. */
export function jsonOf(value: Value): unknown {
  if (typeof value === "bigint") return exactInteger(value);
  if (value === null || typeof value !== "object") return value;
  if (value instanceof CelUint) return exactInteger(value.value);
  if (value instanceof CelOptional) return value.value === undefined ? null : jsonOf(value.value);
  if (value instanceof CelList) return Array.from({ length: value.length }, (_, index) => jsonOf(value.get(index)));
  if (value instanceof CelMap) {
    return Object.fromEntries(value.keys().map((key) => [String(key), jsonOf(value.get(key) ?? null)]));
  }
  return null;
}
