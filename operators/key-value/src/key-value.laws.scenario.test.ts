/** Every fault at every write, event and step of the stories. What was visited is printed. */
import { coverageOf, coverageTable, exploreModule } from "setpoint/testing";
import { expect, test } from "vitest";

/** On two cores of its own it takes about a minute; a busier machine sees less, and says how much. */
const secondsMax = 45;

test(
  "the controllers of data services keep the laws under every single fault",
  async () => {
    const found = await exploreModule(new URL("./testing/key-value-worlds.ts", import.meta.url), {
      seconds: secondsMax,
    });
    const { cells, visited } = coverageOf(found.coverage);
    const seconds = (found.tookMs / 1_000).toFixed(0);
    console.log(`${coverageTable(found.coverage)}\n${visited} of ${cells} cells in ${seconds} s`);
    expect(found.failures.map(({ text }) => text).join("\n\n")).toBe("");
    expect(visited).toBeGreaterThan(0);
  },
  (secondsMax + 120) * 1_000,
);
