/** Kubernetes' own controllers keep the laws that we hold operators to. */
import { coverageOf, coverageTable, exploreModule } from "@setpoint/testing";
import { expect, test } from "vitest";

/** On two cores of its own it takes less; a busier machine sees less, and says how much. */
const secondsMax = 150;

test(
  "the built-in controllers keep the laws under every single fault",
  async () => {
    const found = await exploreModule(new URL("./controllers-worlds.fixture.ts", import.meta.url), {
      seconds: secondsMax,
    });
    const { cells, visited } = coverageOf(found.coverage);
    const seconds = (found.tookMs / 1_000).toFixed(0);
    console.log(`${coverageTable(found.coverage)}\n${visited} of ${cells} cells in ${seconds} s`);
    expect(found.failures.map(({ text }) => text).join("\n\n")).toBe("");
    if (found.isComplete) expect(visited).toBe(cells);
    else expect(visited).toBeGreaterThan(0);
  },
  (secondsMax + 120) * 1_000,
);
