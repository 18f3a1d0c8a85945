/** What a failure says: the rule, the faults, the run, and how to have it again. */
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Failure } from "../explore/exploration.ts";
import { runPage } from "../explore/run-page.ts";
import type { RunReport } from "../explore/run-schedule.ts";
import { runText } from "../explore/run-text.ts";
import { describeFault, type Fault } from "../faults/fault.ts";

/** What a failure prints, and `repro` takes. */
export interface Repro {
  readonly seed: number;
  readonly story: string;
  readonly faults: readonly Fault[];
}

/** Where pages of failures are written by default. */
export function defaultTraceFolder(): string {
  return join(tmpdir(), "setpoint-traces");
}

/** One line that runs a schedule again. */
export function reproLine({ schedule: { seed, story, faults } }: RunReport): string {
  return JSON.stringify({ seed, story: story.name, faults } satisfies Repro);
}

export function failureText({ report, rule, alike }: Failure, folder: string): string {
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
