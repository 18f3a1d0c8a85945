/** What calls cost, in the units of cel-go: a step is 1, ten characters are 1, so that limits hold at the same sizes. */
import type { Cost } from "./overload.ts";
import { CelList, CelMap, CelOpaque, characterCount, sizeOf, type Value } from "./value.ts";

const traversalFactor = 0.1;
const patternFactor = 0.25;

/** The cost of reading `size` characters `times` times. */
export function traversal(size: number, times = 1): number {
  return Math.ceil(size * times * traversalFactor);
}

/** Reads its first argument. */
export const readsFirst: Cost = ([first = null]) => traversal(sizeOf(first));

/** Reads its first argument and writes as much. */
export const copiesFirst: Cost = ([first = null]) => traversal(sizeOf(first), 2);

/** Reads both and writes the result. */
export const readsBoth: Cost = ([a = null, b = null]) => traversal(sizeOf(a) + sizeOf(b));

/** Compares until the shorter one ends. */
export const comparesBoth: Cost = ([a = null, b = null]) => equalityCost(a, b);

/** The second argument is a pattern for the first. */
export const matchesPattern: Cost = ([text = null, pattern = null]) =>
  traversal(1 + sizeOf(text)) * Math.ceil(sizeOf(pattern) * patternFactor);

export const searchesText: Cost = ([text = null, part = null]) => traversal(sizeOf(text)) * traversal(sizeOf(part));

/** One for each scalar that it meets, a tenth for each byte of a string. */
export const visitsItems: Cost = ([list = null]) => treeCost(list);

function treeCost(value: Value): number {
  if (typeof value === "string") return Math.floor(characterCount(value) * traversalFactor);
  if (value instanceof Uint8Array) return Math.floor(value.length * traversalFactor);
  if (value instanceof CelList) {
    let cost = 0;
    for (let index = 0; index < value.length; index += 1) cost += treeCost(value.get(index));
    return cost;
  }
  if (!(value instanceof CelMap)) return 1;
  return value.keys().reduce<number>((cost, key) => cost + treeCost(key) + treeCost(value.get(key) ?? null), 0);
}

export const writesResult: Cost = (_args, result) => traversal(sizeOf(result), 2);

export function equalityCost(a: Value, b: Value): number {
  if (a instanceof CelOpaque) return 1;
  return traversal(Math.min(sizeOf(a), sizeOf(b)));
}
