/**
 * All laws of a reconciler as one test, under any test runner: the test is a function that returns a promise.
 */
import { SetpointError } from "@setpoint/apimachinery";
import { coverageOf, coverageTable } from "../explore/coverage.ts";
import { explore } from "../explore/explore.ts";
import type { Exploration, ExploreOptions } from "../explore/exploration.ts";
import { runSchedule, type RunReport } from "../explore/run-schedule.ts";
import { storyOf, type Subject } from "../explore/story.ts";
import type { Fault } from "../faults/fault.ts";
import { allOracles } from "../oracles/all-oracles.ts";
import { defaultTraceFolder, failureText, type Repro } from "./failure-text.ts";

/** How to explore a reconciler in a test; every option of `explore` but the subject. */
export interface LawOptions extends Omit<ExploreOptions, "subject" | "seed"> {
  /** Everything follows from it; default 1. */
  readonly seed?: number;
  /** Where the pages of failures are written; default: a folder in the system's one for temporary files. */
  readonly traceFolder?: string;
  /** A line that a failure printed: only this schedule runs. */
  readonly repro?: string;
}

/** Real time after which no new schedule begins, unless the caller says otherwise. */
const secondsDefault = 60;
const withinDefaultMs = 300_000;
const quietDefaultMs = 180_000;

/**
 * Explores an operator in all worlds under every single fault, within its time, and throws when a rule broke.
 * The error names the rule and the faults, with a readable trace, a line to run it again, and the path of a
 * page.
 */
export async function reconcilerLaws(subject: Subject, options: LawOptions): Promise<Exploration> {
  const { seed = 1, traceFolder = defaultTraceFolder(), repro, ...rest } = options;
  if (repro !== undefined) await replay(subject, options, repro);
  const found = await explore({ seconds: secondsDefault, ...rest, seed, subject });
  if (found.failures.length === 0) return found;
  const texts = found.failures.map((failure) => failureText(failure, traceFolder));
  const { cells, visited } = coverageOf(found.coverage);
  const counts = `${found.failures.length} rules broken, ${visited} of ${cells} cells visited in ${found.schedules} runs`;
  throw new SetpointError("ERR_LAW_BROKEN", `${counts}\n\n${texts.join("\n\n")}\n\n${coverageTable(found.coverage)}`);
}

/** A test runner's function with options: `test` of vitest and of `node:test`. */
export type TestFunction = (name: string, options: { readonly timeout: number }, run: () => Promise<void>) => unknown;

/** The time for shrinking and for reference runs, after the exploration. */
const restMs = 60_000;

/**
 * Declares a test of all laws, with a time limit that fits `seconds`:
 * `testLaws(test, "candies keep the laws", candies, { worlds })`.
 */
export function testLaws(test: TestFunction, name: string, subject: Subject, options: LawOptions): void {
  const timeout = (options.seconds ?? secondsDefault) * 1_000 + restMs;
  test(name, { timeout }, async () => {
    await reconcilerLaws(subject, options);
  });
}

/** Runs the one schedule that a failure printed, with the same rules. */
export async function replaySchedule(
  subject: Subject,
  options: Pick<LawOptions, "worlds" | "oracles" | "withinMs" | "quietMs" | "mayDiffer">,
  line: string,
): Promise<RunReport> {
  // The parsing border: the line was printed by `reproLine`.
  const { seed, story: name, faults } = JSON.parse(line) as Repro;
  const worlds = options.worlds.map(storyOf);
  const story = worlds.find((each) => each.name === name);
  if (story === undefined)
    throw new SetpointError(
      "ERR_NO_WORLD",
      `Cannot run the schedule again: there is no story "${name}"; there are ${worlds.map((each) => `"${each.name}"`).join(", ")}`,
    );
  const run = (struck: readonly Fault[], reference?: RunReport): Promise<RunReport> =>
    runSchedule(
      subject,
      { seed, story, faults: struck },
      {
        oracles: options.oracles ?? allOracles,
        withinMs: options.withinMs ?? withinDefaultMs,
        quietMs: options.quietMs ?? quietDefaultMs,
        ...(reference === undefined ? {} : { reference: { ...reference.end, chance: new Set(options.mayDiffer) } }),
      },
    );
  return run(faults, await run([]));
}

async function replay(subject: Subject, options: LawOptions, line: string): Promise<void> {
  const report = await replaySchedule(subject, options, line);
  const [rule] = report.broken;
  if (rule === undefined) return;
  const failure = { report, rule, faultsBefore: report.schedule.faults.length, alike: 1 };
  throw new SetpointError("ERR_LAW_BROKEN", failureText(failure, options.traceFolder ?? defaultTraceFolder()));
}
