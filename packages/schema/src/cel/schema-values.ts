/** Lists, maps and objects of a schema: JSON underneath, values on demand. */
import { itemKey } from "../list-types.ts";
import type { StructuralSchema } from "../structural-schema.ts";
import { equals } from "./comparison.ts";
import { isKeyword } from "./escape-name.ts";
import type { CelType } from "./type.ts";
import { CelList, CelMap, PlainList, type Value } from "./value.ts";

/** How values of a schema look to CEL. */
export interface Shape {
  readonly type: CelType;
  /** The value is lazy: fields and items are read when an expression uses them. */
  wrap(json: unknown): Value;
  equal(a: unknown, b: unknown): boolean;
}

export interface ObjectField {
  /** As in JSON. */
  readonly name: string;
  readonly shape: Shape;
}

type Json = Readonly<Record<string, unknown>>;

export class SchemaObject extends CelMap {
  readonly #json: Json;
  readonly #fields: ReadonlyMap<string, ObjectField>;
  readonly #equal: (a: unknown, b: unknown) => boolean;

  constructor(json: Json, fields: ReadonlyMap<string, ObjectField>, equal: (a: unknown, b: unknown) => boolean) {
    super();
    this.#json = json;
    this.#fields = fields;
    this.#equal = equal;
  }

  get size(): number {
    return Object.keys(this.#json).length;
  }

  get(key: Value): Value | undefined {
    const field = typeof key === "string" ? this.#fields.get(key) : undefined;
    if (field === undefined) return undefined;
    const json = Object.hasOwn(this.#json, field.name) ? this.#json[field.name] : undefined;
    // A null in a nullable field is as good as none.
    return json === undefined || json === null ? undefined : field.shape.wrap(json);
  }

  keys(): readonly Value[] {
    return Array.from(this.#fields.keys()).filter((key) => !isKeyword(key) && this.get(key) !== undefined);
  }

  equalTo(other: Value): boolean | undefined {
    return other instanceof SchemaObject ? this.#equal(this.#json, other.#json) : undefined;
  }
}

export class SchemaMap extends CelMap {
  readonly #json: Json;
  readonly #values: Shape;

  constructor(json: Json, values: Shape) {
    super();
    this.#json = json;
    this.#values = values;
  }

  get size(): number {
    return Object.keys(this.#json).length;
  }

  get(key: Value): Value | undefined {
    return typeof key === "string" && Object.hasOwn(this.#json, key) ? this.#values.wrap(this.#json[key]) : undefined;
  }

  keys(): readonly string[] {
    return Object.keys(this.#json);
  }
}

export class SchemaList extends CelList {
  readonly #json: readonly unknown[];
  readonly #items: Shape;
  readonly #schema: StructuralSchema;

  constructor(json: readonly unknown[], items: Shape, schema: StructuralSchema) {
    super();
    this.#json = json;
    this.#items = items;
    this.#schema = schema;
  }

  get length(): number {
    return this.#json.length;
  }

  get(index: number): Value {
    return this.#items.wrap(this.#json[index]);
  }

  get #isUnordered(): boolean {
    const type = this.#schema["x-kubernetes-list-type"];
    return type === "set" || type === "map";
  }

  /** Sets and maps ignore order. Undefined when the other list must be compared item by item. */
  equalTo(other: Value): boolean | undefined {
    if (!(other instanceof CelList)) return false;
    if (other.length !== this.length) return false;
    if (!(other instanceof SchemaList)) return this.#isUnordered ? this.#equalUnorderedValues(other) : undefined;
    if (!this.#isUnordered) return this.#json.every((item, index) => this.#items.equal(item, other.#json[index]));
    const mine = new Map(this.#json.map((item) => [itemKey(this.#schema, item), item]));
    return other.#json.every((item) => {
      const key = itemKey(this.#schema, item);
      return mine.has(key) && this.#items.equal(mine.get(key), item);
    });
  }

  #equalUnorderedValues(other: CelList): boolean {
    const others = Array.from({ length: other.length }, (_, index) => other.get(index));
    const mine = Array.from({ length: this.length }, (_, index) => this.get(index));
    return others.every((item) => mine.some((own) => equals(own, item)));
  }

  /** `+` keeps what sets and maps promise: an item of a key that is there already takes its place. */
  joinWith(other: CelList): CelList {
    if (this.#isUnordered && other instanceof SchemaList) return this.#merged(other.#json);
    const mine = Array.from({ length: this.length }, (_, index) => this.get(index));
    const others = Array.from({ length: other.length }, (_, index) => other.get(index));
    const isSet = this.#schema["x-kubernetes-list-type"] === "set";
    const added = isSet ? others.filter((item) => !mine.some((own) => equals(own, item))) : others;
    return new PlainList([...mine, ...added]);
  }

  #merged(added: readonly unknown[]): SchemaList {
    const merged = new Map(this.#json.map((item) => [itemKey(this.#schema, item), item]));
    for (const item of added) merged.set(itemKey(this.#schema, item), item);
    return new SchemaList(Array.from(merged.values()), this.#items, this.#schema);
  }
}
