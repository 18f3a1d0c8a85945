/** Optional values: `self.?field.orValue(0)`. */
import { equals } from "../comparison.ts";
import { member, plain, type Library } from "../overload.ts";
import {
  CelDuration,
  CelFault,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  PlainList,
  type Value,
} from "../value.ts";
import { itemsOf } from "./operators.ts";

export const none: CelOptional = new CelOptional(undefined);

function isZero(value: Value): boolean {
  if (value instanceof CelList) return value.length === 0;
  if (value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof CelDuration || value instanceof CelTimestamp) return value.nanos === 0n;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelOptional) return value.value === undefined;
  return value === null || [0n, 0, "", false].some((zero) => equals(zero, value) && typeof zero === typeof value);
}

function unwrap(list: CelList): PlainList {
  const values = itemsOf(list).flatMap((item) =>
    item instanceof CelOptional && item.value !== undefined ? [item.value] : [],
  );
  return new PlainList(values);
}

export const optionals: Library = {
  "optional.of": [plain(["A"], "optional(A)", (value) => new CelOptional(value))],
  "optional.ofNonZeroValue": [plain(["A"], "optional(A)", (value) => (isZero(value) ? none : new CelOptional(value)))],
  "optional.none": [plain([], "optional(A)", () => none)],
  "optional.unwrap": [plain(["list(optional(A))"], "list(A)", unwrap)],
  unwrapOpt: [member(["list(optional(A))"], "list(A)", unwrap)],
  hasValue: [member(["optional(A)"], "bool", ({ value }) => value !== undefined)],
  value: [member(["optional(A)"], "A", ({ value }) => valueOf(value))],
  // The interpreter evaluates the second argument only when it is needed.
  or: [member(["optional(A)", "optional(A)"], "optional(A)", (a, b) => (a.value === undefined ? b : a))],
  orValue: [member(["optional(A)", "A"], "A", (a, b) => (a.value === undefined ? b : a.value))],
  first: [member(["list(A)"], "optional(A)", (list) => (list.length === 0 ? none : new CelOptional(list.get(0))))],
  last: [
    member(["list(A)"], "optional(A)", (list) =>
      list.length === 0 ? none : new CelOptional(list.get(list.length - 1)),
    ),
  ],
};

function valueOf(value: Value | undefined): Value {
  return value === undefined ? new CelFault("optional.none() dereference") : value;
}
