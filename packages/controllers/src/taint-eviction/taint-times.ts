import type { Taint } from "../scheduler/filters/taints.ts";
import type { SeenTaint } from "./until-eviction.ts";

/** Since when nodes have their taints. A taint that a user sets does not say it, so it is remembered. */
export interface TaintTimes {
  /** Forgets the taints that the node had and has no more. */
  see(node: string, taints: readonly Taint[], nowMs: number): readonly SeenTaint[];
}

/** A memory of one process: after a restart the time of a taint without a time runs again, as upstream's. */
export function taintTimes(): TaintTimes {
  const known = new Map<string, ReadonlyMap<string, number>>();
  return {
    see(node, taints, nowMs) {
      const before = known.get(node);
      const seen = taints.map((taint) => ({ taint, sinceMs: before?.get(nameOf(taint)) ?? addedMs(taint) ?? nowMs }));
      if (seen.length === 0) known.delete(node);
      else known.set(node, new Map(seen.map(({ taint, sinceMs }) => [nameOf(taint), sinceMs])));
      return seen;
    },
  };
}

function nameOf({ key, value = "", timeAdded = "" }: Taint): string {
  return `${key}=${value} ${timeAdded}`;
}

function addedMs({ timeAdded }: Taint): number | undefined {
  return timeAdded === undefined ? undefined : Date.parse(timeAdded);
}
