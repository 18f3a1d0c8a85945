/** Lists and sets: Kubernetes' list functions, cel-go's list extension version 3 and its sets. */
import { compare, equals } from "../comparison.ts";
import { visitsItems } from "../cost.ts";
import { member, plain, type Cost, type Library, type Overload } from "../overload.ts";
import { CelDuration, CelFault, CelList, CelUint, PlainList, sizeOf, type Value } from "../value.ts";
import { intOf, itemsOf, uintOf } from "./operators.ts";

const comparable = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"] as const;

const zeros: Readonly<Record<"int" | "uint" | "double" | "duration", Value>> = {
  int: 0n,
  uint: new CelUint(0n),
  double: 0,
  duration: new CelDuration(0n),
};

function isSorted(list: CelList): Value {
  for (let index = 1; index < list.length; index += 1) {
    const order = compare(list.get(index - 1), list.get(index));
    if (order instanceof CelFault) return order;
    if (order > 0) return false;
  }
  return true;
}

function sum(list: CelList, zero: Value): Value {
  return itemsOf(list).reduce<Value>(addTo, zero);
}

function addTo(total: Value, item: Value): Value {
  if (typeof total === "bigint" && typeof item === "bigint") return intOf(total + item);
  if (typeof total === "number" && typeof item === "number") return total + item;
  if (total instanceof CelUint && item instanceof CelUint) return uintOf(total.value + item.value);
  if (total instanceof CelDuration && item instanceof CelDuration) return new CelDuration(total.nanos + item.nanos);
  return total instanceof CelFault ? total : new CelFault("no such overload");
}

function extreme(list: CelList, name: string, isBetter: (order: number) => boolean): Value {
  if (list.length === 0) return new CelFault(`${name} called on empty list`);
  let best = list.get(0);
  for (let index = 1; index < list.length; index += 1) {
    const order = compare(list.get(index), best);
    if (order instanceof CelFault) return order;
    if (isBetter(order)) best = list.get(index);
  }
  return best;
}

function overComparable(make: (kind: (typeof comparable)[number]) => Overload): readonly Overload[] {
  return comparable.map(make);
}

function slice(list: CelList, start: bigint, end: bigint): Value {
  const length = BigInt(list.length);
  if (start < 0n || end < 0n) return new CelFault(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end)
    return new CelFault(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > length) return new CelFault(`cannot slice(${start}, ${end}), list is length ${length}`);
  return new PlainList(itemsOf(list).slice(Number(start), Number(end)));
}

function flatten(list: CelList, depth: bigint): Value {
  if (depth < 0n) return new CelFault("level must be non-negative");
  const visit = (items: readonly Value[], left: bigint): readonly Value[] =>
    items.flatMap((item) => (item instanceof CelList && left > 0n ? visit(itemsOf(item), left - 1n) : [item]));
  return new PlainList(visit(itemsOf(list), depth));
}

function sort(list: CelList): Value {
  let fault: CelFault | undefined;
  const sorted = itemsOf(list).toSorted((a, b) => {
    const order = compare(a, b);
    if (!(order instanceof CelFault)) return order;
    fault = order;
    return 0;
  });
  return fault ?? new PlainList(sorted);
}

function distinct(list: CelList): Value {
  const kept: Value[] = [];
  for (const item of itemsOf(list)) if (!kept.some((other) => equals(item, other))) kept.push(item);
  return new PlainList(kept);
}

const rangeMax = 1_000_000n;

function range(end: bigint): Value {
  if (end > rangeMax) return new CelFault(`lists.range() size ${end} exceeds limit ${rangeMax}`);
  return new PlainList(Array.from({ length: Math.max(0, Number(end)) }, (_, index) => BigInt(index)));
}

function containsAll(list: CelList, wanted: CelList): boolean {
  const items = itemsOf(list);
  return itemsOf(wanted).every((item) => items.some((other) => equals(other, item)));
}

/** A call and a new list. */
const newListCost = 11;

const comparesPairs: Cost = ([a = null, b = null]) => 1 + sizeOf(a) * sizeOf(b);
const comparesPairsTwice: Cost = ([a = null, b = null]) => 1 + sizeOf(a) * sizeOf(b) * 2;
const writesList: Cost = (_args, result) => newListCost + sizeOf(result);

const flattens: Cost = ([list = null, depth = 1n]) =>
  newListCost + sizeOf(list) * (typeof depth === "bigint" ? Number(depth) : 1);

/** Every item may be compared with every other, strings character by character. */
const comparesEachWithEach: Cost = ([list = null]) => {
  const first = list instanceof CelList && list.length > 0 ? list.get(0) : null;
  const factor = typeof first === "string" || first instanceof Uint8Array ? 2.1 : 2;
  return newListCost + Math.floor(sizeOf(list) ** 2 * factor);
};

export const lists: Library = {
  isSorted: overComparable((kind) => member([`list(${kind})`], "bool", isSorted, visitsItems)),
  sum: (["int", "uint", "double", "duration"] as const).map((kind) =>
    member([`list(${kind})`], kind, (list) => sum(list, zeros[kind]), visitsItems),
  ),
  min: overComparable((kind) =>
    member([`list(${kind})`], kind, (list) => extreme(list, "min", (order) => order < 0), visitsItems),
  ),
  max: overComparable((kind) =>
    member([`list(${kind})`], kind, (list) => extreme(list, "max", (order) => order > 0), visitsItems),
  ),
  indexOf: [
    member(
      ["list(A)", "A"],
      "int",
      (list, item) => BigInt(itemsOf(list).findIndex((other) => equals(other, item))),
      visitsItems,
    ),
  ],
  lastIndexOf: [
    member(
      ["list(A)", "A"],
      "int",
      (list, item) => BigInt(itemsOf(list).findLastIndex((other) => equals(other, item))),
      visitsItems,
    ),
  ],
  slice: [member(["list(A)", "int", "int"], "list(A)", slice, writesList)],
  flatten: [
    member(["list(list(A))"], "list(A)", (list) => flatten(list, 1n), flattens),
    member(["list(dyn)", "int"], "list(dyn)", flatten, flattens),
  ],
  sort: overComparable((kind) => member([`list(${kind})`], `list(${kind})`, sort, comparesEachWithEach)),
  distinct: [member(["list(A)"], "list(A)", distinct, comparesEachWithEach)],
  reverse: [member(["list(A)"], "list(A)", (list) => new PlainList(itemsOf(list).toReversed()), writesList)],
  "lists.range": [plain(["int"], "list(int)", range, writesList)],
};

export const sets: Library = {
  "sets.contains": [plain(["list(A)", "list(A)"], "bool", containsAll, comparesPairs)],
  "sets.equivalent": [
    plain(["list(A)", "list(A)"], "bool", (a, b) => containsAll(a, b) && containsAll(b, a), comparesPairsTwice),
  ],
  "sets.intersects": [
    plain(
      ["list(A)", "list(A)"],
      "bool",
      (a, b) => itemsOf(a).some((item) => itemsOf(b).some((other) => equals(item, other))),
      comparesPairs,
    ),
  ],
};
