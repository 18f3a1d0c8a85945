/** Every fault at every write, event and step of the operator's stories. What was visited is printed. */
import { coverageOf, coverageTable, exploreModule } from "setpoint/testing";
import { expect, test } from "vitest";

/** What one run sees is cut off here, and printed; `npm run explore` has no limit but its flag `--seconds`. */
const secondsMax = 90;

test(
  "the operator keeps the laws under every single fault",
  async () => {
    const found = await exploreModule(new URL("./testing/etcd-worlds.ts", import.meta.url), { seconds: secondsMax });
    const { cells, visited } = coverageOf(found.coverage);
    const seconds = (found.tookMs / 1_000).toFixed(0);
    console.log(`${coverageTable(found.coverage)}\n${visited} of ${cells} cells in ${seconds} s`);
    expect(found.failures.map(({ text }) => text).join("\n\n")).toBe("");
    // What the time has cut off is printed above; the kinds of faults take turns, so that each has been seen.
    if (found.isComplete) expect(visited).toBe(cells);
    else expect(visited).toBeGreaterThan(0);
  },
  (secondsMax + 120) * 1_000,
);
