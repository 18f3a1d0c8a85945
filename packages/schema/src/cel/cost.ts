/**
 * The cost of calls, in the units of cel-go: a step is 1, ten characters are 1, so that limits hold at the
 * same sizes.
 */
import type { Cost } from "./overload.ts";
import { CelList, CelMap, CelOpaque, characterCount, sizeOf, type Value, weightOf } from "./value.ts";

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

/** What a call may read and write beyond its cost, as most rules do that upstream takes. */
const freeUnits = 1_000;
const unitsOfStep = 100;
const unitsOfItem = 16;
const unitsMax = 20_000_000;
/** As many values as an object may have, about. */
const nodesMax = 100_000;

/**
 * What a call does in truth and its cost in cel-go does not say: `charAt` costs 1 for any text and joining
 * lists 1 for any length, so a short rule would do hours of work within its limit. 0 for texts and lists of
 * ordinary size.
 */
export function hiddenCost(cost: number, args: readonly Value[], result: Value = null): number {
  const hidden = unitsOfAll(args) + unitsOf(result) - cost / traversalFactor - freeUnits;
  return hidden > 0 ? Math.floor(hidden / unitsOfStep) : 0;
}

/** No call reads as much within any limit. */
export function isTooMuch(args: readonly Value[]): boolean {
  return unitsOfAll(args) > unitsMax;
}

function unitsOfAll(values: readonly Value[]): number {
  let units = 0;
  for (const each of values) units += unitsOf(each);
  return units;
}

function unitsOf(value: Value): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  return value instanceof CelList || value instanceof CelMap ? weightOf(value) * unitsOfItem : 0;
}

/** What a comparison reads at most, with all that is in containers of the object. */
export function comparedCost(cost: number, a: Value, b: Value): number {
  const nodes = Math.min(nodesOf(a, nodesMax), nodesOf(b, nodesMax));
  return Math.floor(Math.max(0, nodes * unitsOfItem - cost / traversalFactor - freeUnits) / unitsOfStep);
}

function nodesOf(value: Value, max: number): number {
  if (!(value instanceof CelList || value instanceof CelMap)) return 1;
  let nodes = 1;
  const visit = (child: Value): void => void (nodes += nodesOf(child, max - nodes));
  if (value instanceof CelList)
    for (let index = 0; index < value.length && nodes < max; index++) visit(value.get(index));
  else for (const key of value.keys()) if (nodes < max) visit(value.get(key) ?? null);
  return nodes;
}

export function equalityCost(a: Value, b: Value): number {
  if (a instanceof CelOpaque) return 1;
  return traversal(Math.min(sizeOf(a), sizeOf(b)));
}
