/**
 * The order of items after a strategic merge: that of the patch for its items, that of the server for all
 * others.
 */
import { isJsonObject } from "@setpoint/apimachinery";
import { missingMergeKey, wrongType } from "./strategic-merge-error.ts";

type Items = readonly unknown[];

/**
 * What identifies an item: the value of its merge key, or the item itself in lists of scalars (`mergeKey` is
 * "").
 */
export function identityOf(item: unknown, mergeKey: string): unknown {
  if (mergeKey === "") return item;
  if (!isJsonObject(item)) throw wrongType("map", item);
  const identity = item[mergeKey];
  if (identity === undefined) throw missingMergeKey(item, mergeKey);
  return identity;
}

/**
 * Orders `merged`: items named by `patchOrder` in that order, the others in the order of the server,
 * interleaved where the server's order tells how.
 */
export function orderItems(merged: Items, patchOrder: Items, serverOrder: Items, mergeKey: string): unknown[] {
  const ids = (items: Items): unknown[] => items.map((item) => identityOf(item, mergeKey));
  const patchIds = ids(patchOrder);
  const serverIds = ids(serverOrder);
  const inPatch = new Set(patchIds);
  const isOfPatch = (item: unknown): boolean => inPatch.has(identityOf(item, mergeKey));
  const patchRanks = ranksOf(patchIds);
  const serverRanks = ranksOf(serverIds);
  const rank = (item: unknown, ranks: Ranks): number => ranks.get(identityOf(item, mergeKey)) ?? -1;
  const byRank = (ranks: Ranks) => (a: unknown, b: unknown) => rank(a, ranks) - rank(b, ranks);
  const fromPatch = merged.filter(isOfPatch).sort(byRank(patchRanks));
  const serverOnly = merged.filter((item) => !isOfPatch(item)).sort(byRank(serverRanks));
  return interleave(serverOnly, fromPatch, (item) => rank(item, serverRanks));
}

type Ranks = ReadonlyMap<unknown, number>;

/** Where each identity stands first. */
function ranksOf(ids: readonly unknown[]): Ranks {
  const ranks = new Map<unknown, number>();
  for (const [index, id] of ids.entries()) if (!ranks.has(id)) ranks.set(id, index);
  return ranks;
}

/**
 * Merges two lists, keeping the order of each; a left item goes first only if the server had it before the
 * right one.
 */
function interleave(left: unknown[], right: unknown[], rank: (item: unknown) => number): unknown[] {
  const all: unknown[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const leftRank = rank(left[l]);
    const rightRank = rank(right[r]);
    if (leftRank >= 0 && rightRank >= 0 && leftRank < rightRank) all.push(left[l++]);
    else all.push(right[r++]);
  }
  return [...all, ...left.slice(l), ...right.slice(r)];
}
