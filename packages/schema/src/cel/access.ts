/** Fields of objects, entries of maps, items of lists. */
import { equals } from "./comparison.ts";
import { none } from "./library/optionals.ts";
import { CelFault, CelList, CelMap, CelOptional, CelUint, keyName, type Value } from "./value.ts";

const noOverload = new CelFault("no such overload");

export function selectField(value: Value, field: string): Value {
  if (value instanceof CelMap) return found(value.get(field), field);
  if (value instanceof CelOptional) return selectOptional(value, field);
  // What has no fields at all lacks this one, too.
  return new CelFault(`no such key: ${field}`);
}

function found(value: Value | undefined, key: Value): Value {
  return value === undefined ? new CelFault(`no such key: ${keyName(key)}`) : value;
}

export function selectOptional(value: Value, field: string): Value {
  const inner = value instanceof CelOptional ? value.value : value;
  if (inner === undefined) return none;
  if (!(inner instanceof CelMap)) return noOverload;
  return optionalOf(inner.get(field));
}

function optionalOf(value: Value | undefined): Value {
  return value === undefined ? none : value instanceof CelFault ? value : new CelOptional(value);
}

export function isPresent(value: Value, field: string): Value {
  const inner = value instanceof CelOptional ? value.value : value;
  if (inner === undefined) return false;
  return inner instanceof CelMap ? inner.get(field) !== undefined : noOverload;
}

/** An index as a number, when it is a whole one. */
function indexOf(index: Value): number | undefined {
  if (typeof index === "bigint") return Number(index);
  if (index instanceof CelUint) return Number(index.value);
  return typeof index === "number" && Number.isInteger(index) ? index : undefined;
}

export function access(value: Value, index: Value): Value {
  if (value instanceof CelMap) return found(value.get(index), index);
  if (value instanceof CelOptional) return accessOptional(value, index);
  const at = value instanceof CelList ? indexOf(index) : undefined;
  if (at === undefined || !(value instanceof CelList)) return noOverload;
  return at >= 0 && at < value.length ? value.get(at) : new CelFault(`index out of bounds: ${at}`);
}

export function accessOptional(value: Value, index: Value): Value {
  const inner = value instanceof CelOptional ? value.value : value;
  if (inner === undefined) return none;
  if (inner instanceof CelMap) return optionalOf(inner.get(index));
  const at = inner instanceof CelList ? indexOf(index) : undefined;
  if (at === undefined || !(inner instanceof CelList)) return noOverload;
  return at >= 0 && at < inner.length ? optionalOf(inner.get(at)) : none;
}

export function isMember(item: Value, range: Value): Value {
  if (range instanceof CelMap) return range.get(item) !== undefined;
  if (!(range instanceof CelList)) return noOverload;
  for (let index = 0; index < range.length; index += 1) if (equals(item, range.get(index))) return true;
  return false;
}
