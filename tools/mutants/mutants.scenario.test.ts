/** A sample of the mutants; all of them, and many more schedules of their twins, by `npm run mutants`. */
import { expect, test } from "vitest";
import { allMutants } from "./all-mutants.ts";
import { findMutant, runTwin } from "./campaign.ts";

/** One for each way in which operators go wrong, of those that are found quickly. */
const sample = [
  "M1",
  "M3",
  "M9",
  "M13",
  "M19",
  "M24",
  "M25",
  "M26",
  "M27",
  "M28",
  "M29",
  "M30",
  "casskop-370 (I)",
  "K8SPSMDB-430 (S)",
  "K8SPSMDB-585 (U)",
];
/** Virtual schedules of each twin, besides all single faults. */
const twinSchedules = 1;

const chosen = allMutants.filter(({ id }) => sample.includes(id));

test("the sample names mutants that exist, among all templates and all of Sieve's patterns", () => {
  expect(chosen.map(({ id }) => id).toSorted()).toEqual(sample.toSorted());
  expect(allMutants.filter(({ id, template }) => id === template).map(({ id }) => id)).toEqual(
    Array.from({ length: 30 }, (_, index) => `M${index + 1}`),
  );
  expect(allMutants.filter(({ id, template }) => id !== template).length).toBe(37);
});

test.each(chosen)("$id is found: $bug", async (mutant) => {
  const { rule, faults, traceLines } = await findMutant(mutant, { seconds: 50 });
  expect(rule).toBeDefined();
  expect(faults.length).toBeLessThanOrEqual(3);
  expect(traceLines).toBeLessThanOrEqual(30);
});

test.each(chosen.filter(({ id }) => ["M1", "M19", "M25", "M26", "M27", "M28", "M29", "M30"].includes(id)))(
  "the twin of $id raises no alarm",
  async (mutant) => {
    const { alarms } = await runTwin(mutant, { schedules: twinSchedules, seconds: 50 });
    expect(alarms).toEqual([]);
  },
);
