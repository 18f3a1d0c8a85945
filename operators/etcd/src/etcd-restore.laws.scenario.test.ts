/** Faults at every write, event and step of backups and restores of etcd. What was visited is printed. */
import { coverageOf, coverageTable, exploreModule } from "setpoint/testing";
import { expect, test } from "vitest";

/** A part of the cells, another one on a faster machine; the same controllers are explored whole in operators/key-value. */
const secondsMax = 40;

test(
  "restores keep the laws under single faults",
  async () => {
    const found = await exploreModule(new URL("./testing/etcd-restore-worlds.ts", import.meta.url), {
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
