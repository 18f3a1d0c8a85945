/** Schedules that are nearly the same: other seeds, other counts of the places, other children. */
import type { Random } from "@setpoint/host";
import type { FoundSchedule } from "../../operators/etcd/src/testing/found-schedules.ts";

const seedsApart = 20_000;
const placesApartMax = 6;
/** After so many tries places are looked for that are one further away. */
const triesPerPlace = 60;
const ranks = 20;

type Fault = FoundSchedule["faults"][number];

/** The `tries`-th variation. */
export function vary(schedule: FoundSchedule, tries: number, random: Random): FoundSchedule {
  const apart = Math.min(placesApartMax, 1 + Math.floor(tries / triesPerPlace));
  return {
    ...schedule,
    seed: isOften(random) ? schedule.seed + random.int(seedsApart) : schedule.seed,
    faults: schedule.faults.map((fault) => varied(fault, apart, random)),
  };
}

function varied(fault: Fault, apart: number, random: Random): Fault {
  const { at, child } = fault as { readonly at: { readonly nth?: number }; readonly child?: { readonly rank: number } };
  const moved = at.nth !== undefined && isOften(random);
  const nth = Math.max(1, (at.nth ?? 0) - apart + random.int(2 * apart + 1));
  // The same fault but for numbers.
  return {
    ...fault,
    ...(moved ? { at: { ...at, nth } } : {}),
    ...(child !== undefined && isOften(random) ? { child: { ...child, rank: random.int(ranks) } } : {}),
  } as Fault;
}

/** Twice of three times. */
function isOften(random: Random): boolean {
  return random.int(3) > 0;
}
