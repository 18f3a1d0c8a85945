/** Every fault at every write, event and step of the operator's stories. What was visited is printed. */
import { coverageOf, coverageTable, exploreModule } from "@setpoint/testing";
import { expect, test } from "vitest";

const secondsMax = 170;

test(
  "the operator keeps the laws under every single fault, in all cells",
  async () => {
    const found = await exploreModule(new URL("./testing/etcd-worlds.ts", import.meta.url), { seconds: secondsMax });
    const { cells, visited } = coverageOf(found.coverage);
    const seconds = (found.tookMs / 1_000).toFixed(0);
    console.log(`${coverageTable(found.coverage)}\n${visited} of ${cells} cells in ${seconds} s`);
    expect(found.failures.map(({ text }) => text).join("\n\n")).toBe("");
    expect(visited).toBe(cells);
  },
  (secondsMax + 60) * 1_000,
);
