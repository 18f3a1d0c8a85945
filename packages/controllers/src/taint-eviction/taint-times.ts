import type { Taint } from "../scheduler/filters/taints.ts";
import type { SeenTaint } from "./until-eviction.ts";

/** The clock of this process: what people set its wall clock to later does not change how long it counts. */
export interface TaintClock {
  now(): number;
  monotonic(): number;
}

/** Since when nodes have their taints. A taint that a user sets does not say it, so it is remembered. */
export interface TaintTimes {
  /** The time by which the taints were seen. */
  nowMs(clock: TaintClock): number;
  /** Forgets the taints that the node had and has no more. */
  see(node: string, taints: readonly Taint[], clock: TaintClock): readonly SeenTaint[];
}

/** A memory of one process: after a restart the time of a taint without a time runs again, as upstream's. */
export function taintTimes(): TaintTimes {
  const known = new Map<string, ReadonlyMap<string, number>>();
  let offsetMs: number | undefined;
  const nowMs = (clock: TaintClock): number => {
    offsetMs ??= clock.now() - clock.monotonic();
    return clock.monotonic() + offsetMs;
  };
  return {
    nowMs,
    see(node, taints, clock) {
      const before = known.get(node);
      // The controller that wrote the time has the same clock, as that clock is now.
      const ageMs = (taint: Taint): number => Math.max(0, clock.now() - (addedMs(taint) ?? clock.now()));
      const seen = taints.map((taint) => ({
        taint,
        sinceMs: before?.get(nameOf(taint)) ?? nowMs(clock) - ageMs(taint),
      }));
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
