import { expect, test } from "vitest";
import { soak } from "./soak.fixture.ts";

test("a day of changes, cut and silent watches and restarts ends in order: all done, nothing to do, nothing missed", async () => {
  // Memory is looked at by bench/soak.ts, over a week.
  const options = { seed: 5, days: 1, objects: 200, changeEveryMs: 60_000, heapBytes: () => 0 };
  for await (const day of soak(options)) {
    expect(day).toMatchObject({
      ...{ isQuiet: true, isReady: true, writesAtRest: 0, staleObjects: 0, unfinished: 0 },
    });
    expect(day.changes).toBeGreaterThan(1_000);
    expect(Math.min(day.restarts, day.silences)).toBeGreaterThan(0);
    expect(day.cuts).toBeGreaterThan(30);
  }
});
