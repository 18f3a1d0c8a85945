/** All laws of a reconciler as one test, under any test runner: it returns a promise, and needs nothing else of it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import { coverageOf, coverageTable } from "../explore/coverage.ts";
import { type Exploration, explore, type ExploreOptions, type Failure } from "../explore/explore.ts";
import { runPage } from "../explore/run-page.ts";
import { runSchedule, type RunReport } from "../explore/run-schedule.ts";
import { runText } from "../explore/run-text.ts";
import { storyOf, type Subject } from "../explore/story.ts";
import { describeFault, type Fault } from "../faults/fault.ts";
import { allOracles } from "../oracles/all-oracles.ts";

export interface LawOptions extends Omit<ExploreOptions, "subject" | "seed"> {
  /** Everything follows from it; default 1. */
  readonly seed?: number;
  /** Where the pages of failures are written; default: a folder in the system's one for temporary files. */
  readonly traceFolder?: string;
  /** A line that a failure has printed: only this schedule is run. */
  readonly repro?: string;
}

/** Real time after which no new schedule begins, unless the caller says otherwise. */
const secondsDefault = 60;
const withinDefaultMs = 300_000;
const quietDefaultMs = 180_000;

/** What a failure prints, and `repro` takes. */
interface Repro {
  readonly seed: number;
  readonly story: string;
  readonly faults: readonly Fault[];
}

/**
 * Explores an operator in all worlds under every single fault, within the time that it is given, and throws when a rule was broken.
 * The error says which rule, by which faults, with a trace that a person can read, a line to run it again, and the path of a page.
 */
export async function reconcilerLaws(subject: Subject, options: LawOptions): Promise<Exploration> {
  const { seed = 1, traceFolder = join(tmpdir(), "setpoint-traces"), repro, ...rest } = options;
  if (repro !== undefined) await replay(subject, options, repro);
  const found = await explore({ seconds: secondsDefault, ...rest, seed, subject });
  if (found.failures.length === 0) return found;
  const texts = found.failures.map((failure) => failureText(failure, traceFolder));
  const { cells, visited } = coverageOf(found.coverage);
  const counts = `${found.failures.length} rules broken, ${visited} of ${cells} cells visited in ${found.schedules} runs`;
  throw new SetpointError("ERR_LAW_BROKEN", `${counts}\n\n${texts.join("\n\n")}\n\n${coverageTable(found.coverage)}`);
}

/** Runs the one schedule that a failure has printed, with the same rules. */
export async function replaySchedule(
  subject: Subject,
  options: Pick<LawOptions, "worlds" | "oracles" | "withinMs" | "quietMs">,
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
        ...(reference === undefined ? {} : { reference: { ...reference.end, chance: new Set() } }),
      },
    );
  return run(faults, await run([]));
}

async function replay(subject: Subject, options: LawOptions, line: string): Promise<void> {
  const report = await replaySchedule(subject, options, line);
  const [rule] = report.broken;
  if (rule === undefined) return;
  const failure = { report, rule, faultsBefore: report.schedule.faults.length, alike: 1 };
  throw new SetpointError(
    "ERR_LAW_BROKEN",
    failureText(failure, options.traceFolder ?? join(tmpdir(), "setpoint-traces")),
  );
}

/** One line that runs a schedule again. */
export function reproLine({ schedule: { seed, story, faults } }: RunReport): string {
  return JSON.stringify({ seed, story: story.name, faults } satisfies Repro);
}

function failureText({ report, rule, alike }: Failure, folder: string): string {
  const { story, faults } = report.schedule;
  const repro = reproLine(report);
  const title = `breaks "${rule.oracle}" in the story "${story.name}"`;
  const path = writePage(folder, title, report, repro);
  const others = alike > 1 ? [`(${alike} schedules break it in this way; this is the smallest)`] : [];
  return [
    `${title}${faults.length === 0 ? ", without any fault" : ""}: ${rule.sentence}`,
    ...faults.map((fault) => `  ⚡ ${describeFault(fault)}`),
    ...others,
    runText(report),
    `once more: repro: ${JSON.stringify(repro)}`,
    `trace: ${path}`,
  ].join("\n");
}

function writePage(folder: string, title: string, report: RunReport, repro: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${report.traceHash.slice(0, 16)}.html`);
  writeFileSync(path, runPage(report, title, repro));
  return path;
}
