/** Arithmetic and order. Integers are 64 bits wide, and leaving that range is an error. */
import { comparesBoth, readsBoth } from "../cost.ts";
import { compare } from "../comparison.ts";
import { plain, type Library, type Overload } from "../overload.ts";
import { durationOf, timestampOf } from "../time.ts";
import { CelFault, CelUint, PlainList, type CelList, type Value } from "../value.ts";

const overflow = new CelFault("integer overflow");
const unsignedOverflow = new CelFault("unsigned integer overflow");

export function intOf(value: bigint): bigint | CelFault {
  return BigInt.asIntN(64, value) === value ? value : overflow;
}

export function uintOf(value: bigint): CelUint | CelFault {
  return BigInt.asUintN(64, value) === value ? new CelUint(value) : unsignedOverflow;
}

const ordered = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"] as const;
const numbers = ["int", "uint", "double"] as const;

function comparison(holds: (order: number) => boolean): readonly Overload[] {
  const run = (a: Value, b: Value): Value => {
    const order = compare(a, b);
    return order instanceof CelFault ? order : holds(order);
  };
  const sameKind = ordered.map((kind) =>
    plain([kind, kind], "bool", run, kind === "string" || kind === "bytes" ? comparesBoth : undefined),
  );
  const crossKind = numbers.flatMap((left) =>
    numbers.filter((right) => right !== left).map((right) => plain([left, right], "bool", run)),
  );
  return [...sameKind, ...crossKind];
}

function concatLists(a: CelList, b: CelList): Value {
  if ("joinWith" in a && typeof a.joinWith === "function") return (a.joinWith as (other: CelList) => CelList)(b);
  return new PlainList([...itemsOf(a), ...itemsOf(b)]);
}

export function itemsOf(list: CelList): readonly Value[] {
  return Array.from({ length: list.length }, (_, index) => list.get(index));
}

function concatBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

const zeroDivision = new CelFault("division by zero");
const zeroModulus = new CelFault("modulus by zero");

export const operators: Library = {
  "_<_": comparison((order) => order < 0),
  "_<=_": comparison((order) => order <= 0),
  "_>_": comparison((order) => order > 0),
  "_>=_": comparison((order) => order >= 0),
  "_==_": [plain(["A", "A"], "bool", () => new CelFault("no such overload"))],
  "_!=_": [plain(["A", "A"], "bool", () => new CelFault("no such overload"))],
  "_&&_": [plain(["bool", "bool"], "bool", (a, b) => a && b)],
  "_||_": [plain(["bool", "bool"], "bool", (a, b) => a || b)],
  "_?_:_": [plain(["bool", "A", "A"], "A", (condition, a, b) => (condition ? a : b))],
  "!_": [plain(["bool"], "bool", (value) => !value)],
  "-_": [plain(["int"], "int", (value) => intOf(-value)), plain(["double"], "double", (value) => -value)],
  "_+_": [
    plain(["bytes", "bytes"], "bytes", concatBytes, readsBoth),
    plain(["double", "double"], "double", (a, b) => a + b),
    plain(["duration", "duration"], "duration", (a, b) => durationOf(a.nanos + b.nanos)),
    plain(["duration", "timestamp"], "timestamp", (a, b) => timestampOf(a.nanos + b.nanos)),
    plain(["timestamp", "duration"], "timestamp", (a, b) => timestampOf(a.nanos + b.nanos)),
    plain(["int", "int"], "int", (a, b) => intOf(a + b)),
    plain(["list(A)", "list(A)"], "list(A)", concatLists),
    plain(["string", "string"], "string", (a, b) => a + b, readsBoth),
    plain(["uint", "uint"], "uint", (a, b) => uintOf(a.value + b.value)),
  ],
  "_-_": [
    plain(["double", "double"], "double", (a, b) => a - b),
    plain(["duration", "duration"], "duration", (a, b) => durationOf(a.nanos - b.nanos)),
    plain(["int", "int"], "int", (a, b) => intOf(a - b)),
    plain(["timestamp", "duration"], "timestamp", (a, b) => timestampOf(a.nanos - b.nanos)),
    plain(["timestamp", "timestamp"], "duration", (a, b) => durationOf(a.nanos - b.nanos)),
    plain(["uint", "uint"], "uint", (a, b) => uintOf(a.value - b.value)),
  ],
  "_*_": [
    plain(["double", "double"], "double", (a, b) => a * b),
    plain(["int", "int"], "int", (a, b) => intOf(a * b)),
    plain(["uint", "uint"], "uint", (a, b) => uintOf(a.value * b.value)),
  ],
  "_/_": [
    plain(["double", "double"], "double", (a, b) => a / b),
    plain(["int", "int"], "int", (a, b) => (b === 0n ? zeroDivision : intOf(a / b))),
    plain(["uint", "uint"], "uint", (a, b) => (b.value === 0n ? zeroDivision : uintOf(a.value / b.value))),
  ],
  "_%_": [
    plain(["int", "int"], "int", (a, b) => (b === 0n ? zeroModulus : intOf(a % b))),
    plain(["uint", "uint"], "uint", (a, b) => (b.value === 0n ? zeroModulus : uintOf(a.value % b.value))),
  ],
  // The interpreter runs these itself; here they are for the checker.
  "_[_]": [
    plain(["list(A)", "int"], "A", () => new CelFault("no such overload")),
    plain(["map(A, B)", "A"], "B", () => new CelFault("no such overload")),
    plain(["optional(list(A))", "int"], "optional(A)", () => new CelFault("no such overload")),
    plain(["optional(map(A, B))", "A"], "optional(B)", () => new CelFault("no such overload")),
  ],
  "_[?_]": [
    plain(["list(A)", "int"], "optional(A)", () => new CelFault("no such overload")),
    plain(["optional(list(A))", "int"], "optional(A)", () => new CelFault("no such overload")),
    plain(["map(A, B)", "A"], "optional(B)", () => new CelFault("no such overload")),
    plain(["optional(map(A, B))", "A"], "optional(B)", () => new CelFault("no such overload")),
  ],
  "@in": [
    plain(["A", "list(A)"], "bool", () => new CelFault("no such overload")),
    plain(["A", "map(A, B)"], "bool", () => new CelFault("no such overload")),
  ],
};
