/** Every fault at every write, event and step of the stories of bindings. What was visited is printed. */
import { coverageOf, coverageTable, exploreModule } from "setpoint/testing";
import { expect, test } from "vitest";

const secondsMax = 60;

test(
  "bindings keep the laws under every single fault",
  async () => {
    const found = await exploreModule(new URL("./binding-worlds.fixture.ts", import.meta.url), { seconds: secondsMax });
    const { cells, visited } = coverageOf(found.coverage);
    const seconds = (found.tookMs / 1_000).toFixed(0);
    console.log(`${coverageTable(found.coverage)}\n${visited} of ${cells} cells in ${seconds} s`);
    expect(found.failures.map(({ text }) => text).join("\n\n")).toBe("");
    if (found.isComplete) expect(visited).toBe(cells);
    else expect(visited).toBeGreaterThan(0);
  },
  (secondsMax + 120) * 1_000,
);
