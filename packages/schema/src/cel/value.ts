/**
 * Values at run time. The common ones are JavaScript's own: int is bigint, double is number, then string,
 * boolean and null; the others are classes.
 */
import { lookupTable } from "@setpoint/apimachinery";
import { typeText, type CelType } from "./type.ts";

export type Value =
  | bigint
  | number
  | string
  | boolean
  | null
  | Uint8Array
  | CelUint
  | CelDuration
  | CelTimestamp
  | CelList
  | CelMap
  | CelTypeValue
  | CelOptional
  | CelOpaque
  | CelFault;

/** An error as a value: `&&`, `||`, `all` and `exists` may absorb it, everything else passes it on. */
export class CelFault {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export class CelUint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class CelTimestamp {
  /** Since 1970. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export abstract class CelList {
  abstract readonly length: number;
  /** The index is in range. */
  abstract get(index: number): Value;
}

export abstract class CelMap {
  abstract readonly size: number;
  /** Undefined when the key is not there. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): readonly Value[];
}

export class CelTypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  static of(type: CelType): CelTypeValue {
    if (type.kind === "list" || type.kind === "map") return new CelTypeValue(type.kind);
    if (type.kind === "opaque") return new CelTypeValue(type.name);
    return new CelTypeValue(typeNames[type.kind] ?? typeText(type));
  }
}

const typeNames: Readonly<Record<string, string>> = lookupTable({
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  null: "null_type",
});

export class CelOptional {
  /** Undefined when there is none. */
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** Values of libraries: quantities, addresses, URLs. */
export abstract class CelOpaque {
  abstract readonly typeName: string;
  /** False: `==` is an error. */
  readonly isComparable: boolean = true;
  abstract equals(other: CelOpaque): boolean;
}

export class PlainList extends CelList {
  readonly items: readonly Value[];
  #weight: number | undefined;

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }

  get length(): number {
    return this.items.length;
  }

  get(index: number): Value {
    return this.items[index] ?? null;
  }

  /**
   * Values in it at all depths. One value may stand in many places: then there are far more than were ever
   * made.
   */
  get weight(): number {
    this.#weight ??= this.items.reduce<number>((sum, each) => sum + weightOf(each), 1);
    return this.#weight;
  }
}

export class PlainMap extends CelMap {
  readonly #entries = new Map<string, readonly [Value, Value]>();
  #weight: number | undefined;

  constructor(entries: Iterable<readonly [Value, Value]>) {
    super();
    for (const [key, value] of entries) this.#entries.set(keyText(key), [key, value]);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(keyText(key))?.[1];
  }

  keys(): readonly Value[] {
    return Array.from(this.#entries.values(), ([key]) => key);
  }

  /** As that of a list. */
  get weight(): number {
    this.#weight ??= this.#entries.values().reduce((sum, [, value]) => sum + weightOf(value), 1);
    return this.#weight;
  }
}

/**
 * Containers of the object itself count by their own size: what is in them is bounded by the size of an
 * object.
 */
export function weightOf(value: Value): number {
  if (value instanceof PlainList || value instanceof PlainMap) return value.weight;
  if (value instanceof CelList) return 1 + value.length;
  return value instanceof CelMap ? 1 + value.size : 1;
}

/** Equal for equal keys, whatever type of number they are. */
export function keyText(key: Value): string {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "bigint") return `n${key}`;
  if (key instanceof CelUint) return `n${key.value}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`;
  if (typeof key === "boolean") return `b${String(key)}`;
  return `?${kindOf(key)}`;
}

/** A key in messages. */
export function keyName(key: Value): string {
  return keyText(key).slice(1);
}

/** What an overload is chosen by. Objects of a schema are maps. */
export function kindOf(value: Value): string {
  switch (typeof value) {
    case "string":
      return "string";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "boolean":
      return "bool";
    default:
      return objectKind(value);
  }
}

function objectKind(value: Exclude<Value, string | bigint | number | boolean>): string {
  if (value === null) return "null";
  if (value instanceof CelList) return "list";
  if (value instanceof CelMap) return "map";
  if (value instanceof CelUint) return "uint";
  if (value instanceof CelDuration) return "duration";
  if (value instanceof CelTimestamp) return "timestamp";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof CelTypeValue) return "type";
  if (value instanceof CelOptional) return "optional_type";
  if (value instanceof CelFault) return "error";
  return value.typeName;
}

/** How large a value is for its cost: characters, bytes, items; 1 for the rest. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return characterCount(value);
  if (value instanceof CelList || value instanceof Uint8Array) return value.length;
  if (value instanceof CelMap) return value.size;
  if (value instanceof CelOptional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}

const beyondBasicPlane = /[\ud800-\udbff]/;

/** The number of code points. */
export function characterCount(text: string): number {
  return beyondBasicPlane.test(text) ? Array.from(text).length : text.length;
}

export function typeNameOf(value: Value): string {
  const kind = kindOf(value);
  return typeNames[kind] ?? kind;
}
