/** Equality and order. Numbers compare by value across their types; other types differ, which is no error. */
import {
  CelDuration,
  CelFault,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type Value,
} from "./value.ts";

export function equals(a: Value, b: Value): boolean {
  if (typeof a !== "object" && typeof a === typeof b) return a === b;
  if (a === null || b === null) return a === b;
  const numeric = compareNumbers(a, b);
  if (numeric !== undefined) return numeric === 0;
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (a instanceof CelList) return b instanceof CelList && equalLists(a, b);
  if (a instanceof CelMap) return b instanceof CelMap && equalMaps(a, b);
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos;
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name;
  if (a instanceof CelOptional) return b instanceof CelOptional && equalOptionals(a, b);
  return a instanceof CelOpaque && b instanceof CelOpaque && a.typeName === b.typeName && a.equals(b);
}

/** Lists and maps of a schema know better: sets ignore order, unknown fields count. */
interface OwnEquality {
  equalTo(other: Value): boolean | undefined;
}

function hasOwnEquality(value: object): value is OwnEquality {
  return "equalTo" in value;
}

function equalLists(a: CelList, b: CelList): boolean {
  const own = hasOwnEquality(a) ? a.equalTo(b) : undefined;
  if (own !== undefined) return own;
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (!equals(a.get(index), b.get(index))) return false;
  return true;
}

function equalMaps(a: CelMap, b: CelMap): boolean {
  const own = hasOwnEquality(a) ? a.equalTo(b) : undefined;
  if (own !== undefined) return own;
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    const [left, right] = [a.get(key), b.get(key)];
    return left !== undefined && right !== undefined && equals(left, right);
  });
}

function equalOptionals(a: CelOptional, b: CelOptional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equals(a.value, b.value);
}

type Numeric = bigint | number;

function numberOf(value: Value): Numeric | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof CelUint ? value.value : undefined;
}

/** -1, 0, 1; NaN when one is not a number; undefined when one is no number at all. */
function compareNumbers(a: Value, b: Value): number | undefined {
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left === undefined || right === undefined) return undefined;
  // As in cel-go, an integer beside a double loses what a double cannot hold.
  return typeof left === typeof right ? orderOf(left, right) : orderOf(Number(left), Number(right));
}

function orderOf<T extends Numeric>(a: T, b: T): number {
  if (a < b) return -1;
  if (a > b) return 1;
  return a === b ? 0 : Number.NaN;
}

/** The order of two values, or a fault when they have none. */
export function compare(a: Value, b: Value): number | CelFault {
  const numeric = compareNumbers(a, b);
  if (numeric !== undefined) return numeric;
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a instanceof CelDuration && b instanceof CelDuration) return orderOf(a.nanos, b.nanos);
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return orderOf(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  return new CelFault("no such overload");
}

const surrogate = /[\ud800-\udfff]/;

/** By code points; UTF-16 puts surrogates before the end of the basic plane. */
function compareText(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return compareBytes(encoder.encode(a), encoder.encode(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

const encoder = new TextEncoder();

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
