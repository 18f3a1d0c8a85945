/** Declares a test that explores what a module exports, in a bounded time. */
import { SetpointError } from "@setpoint/apimachinery";
import { coverageOf, coverageTable } from "../explore/coverage.ts";
import { busyFactorMax } from "./budget-clock.ts";
import { exploreModule, type Summary } from "./explore-module.ts";
import type { TestFunction } from "./reconciler-laws.ts";

/** The time for shrinking and for reference runs, after the exploration. */
const restMs = 120_000;
const timesMax = 1_000;

export interface ModuleLawsOptions {
  /**
   * CPU time of each thread after which no new run begins. The variable SETPOINT_LAWS_TIMES multiplies it,
   * for a longer run at night.
   */
  readonly seconds: number;
  /** Called with a table of what was visited. */
  report(this: void, text: string): void;
}

/**
 * Declares a test that the worlds of `module` keep the laws under every single fault:
 * `testModuleLaws(test, "candies keep the laws", new URL("./worlds.ts", import.meta.url), { seconds: 60, report: console.log })`.
 */
export function testModuleLaws(test: TestFunction, name: string, module: URL, options: ModuleLawsOptions): void {
  const { report } = options;
  const seconds = options.seconds * timesLonger();
  test(name, { timeout: seconds * 1_000 * busyFactorMax + restMs }, async () => {
    const found = await exploreModule(module, { seconds, countsCpuTime: true });
    const { cells, visited } = coverageOf(found.coverage);
    report(`${coverageTable(found.coverage)}\n${visited} of ${cells} cells in ${(found.tookMs / 1_000).toFixed(0)} s`);
    const problem = problemOf(found, visited, cells);
    if (problem !== undefined) throw new SetpointError("ERR_LAW_BROKEN", problem);
  });
}

/** How many times longer than its author says an exploration lasts. */
function timesLonger(): number {
  const given = process.env["SETPOINT_LAWS_TIMES"] ?? "1";
  const times = Number(given);
  if (times > 0 && times <= timesMax) return times;
  throw new SetpointError(
    "ERR_LAWS_TIMES",
    `SETPOINT_LAWS_TIMES is "${given}"; expected a number above 0, at most ${timesMax}`,
  );
}

function problemOf({ failures, isComplete }: Summary, visited: number, cells: number): string | undefined {
  if (failures.length > 0) return failures.map(({ text }) => text).join("\n\n");
  if (visited === 0) return "no fault has struck: the worlds are too slow for this time, or have no writes";
  return isComplete && visited < cells ? `${cells - visited} of ${cells} faults never struck` : undefined;
}
