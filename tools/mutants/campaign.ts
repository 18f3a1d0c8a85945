/** Explores one mutant until something is found, or one twin for as long as asked. */
import { allOracles, describeFault, explore, type Oracle, runText } from "@setpoint/testing";
import { type Mutant, subjectOf } from "./mutant.ts";

/** What the explorer had to say of a mutant. */
export interface Finding {
  readonly id: string;
  readonly template: string;
  readonly bug: string;
  /** The rule that it broke; undefined when nothing was found. */
  readonly rule: string | undefined;
  readonly sentence: string;
  readonly faults: readonly string[];
  /** All lines: none is omitted, but a line that repeats is printed once with its count. */
  readonly traceLines: number;
  readonly schedules: number;
  readonly seconds: number;
}

const seed = 1;
const quietMs = 600_000;

/** All rules, but for what a mutant that always does something cannot keep. */
function oraclesFor({ isBusy = false }: Mutant): readonly Oracle[] {
  return [...(isBusy ? allOracles.filter(({ name }) => !busyBreaks.has(name)) : allOracles), works];
}

/**
 * A twin that cannot do its work would raise no alarm either, and a mutant that cannot would be found for
 * another reason.
 */
const works: Oracle = {
  name: "does its work",
  judge: (view) => ({
    ended({ faults }) {
      if (faults.length > 0) return undefined;
      const failure = view.logs.find(({ level }) => level === "error");
      return failure && `it fails without a fault: ${failure.message} (${String(failure.fields["error"])})`;
    },
  }),
};

const busyBreaks: ReadonlySet<string> = new Set(["stays quiet", "same end as without faults", "no work twice"]);

export interface CampaignOptions {
  /** Real time. */
  readonly seconds: number;
}

/** Ends with the first broken rule. */
export async function findMutant(mutant: Mutant, { seconds }: CampaignOptions): Promise<Finding> {
  const { id, template, bug, faults } = mutant;
  const { failures, schedules, tookMs } = await explore({
    subject: subjectOf(mutant, "mutant"),
    worlds: [mutant.story],
    seed,
    seconds,
    quietMs,
    oracles: oraclesFor(mutant),
    failuresMax: 1,
    pairs: 1_000,
    ...(faults === undefined ? {} : { faults }),
  });
  const [failure] = failures;
  const isRefused = failure?.report.broken.some(({ oracle }) => oracle === works.name) === true;
  return {
    id,
    template,
    bug,
    rule: isRefused && mutant.isFailing !== true ? undefined : failure?.rule.oracle,
    sentence: failure?.rule.sentence ?? "nothing was found",
    faults: (failure?.report.schedule.faults ?? []).map(describeFault),
    traceLines: failure === undefined ? 0 : runText(failure.report, Infinity).split("\n").length,
    schedules,
    seconds: tookMs / 1_000,
  };
}

export interface TwinReport {
  readonly id: string;
  readonly schedules: number;
  /** One sentence for each alarm. */
  readonly alarms: readonly string[];
}

export interface TwinOptions {
  /** Random ones, after all single faults. */
  readonly schedules: number;
  readonly seconds: number;
  readonly firstSeed?: number;
  /** Virtual time after each run in which nothing may happen. */
  readonly restMs?: number;
}

/** All single faults, then random schedules until there are so many, or the time is over. */
export async function runTwin(
  mutant: Mutant,
  { schedules, seconds, firstSeed = seed, restMs = quietMs }: TwinOptions,
): Promise<TwinReport> {
  const found = await explore({
    subject: subjectOf(mutant, "twin"),
    worlds: [mutant.twinStory ?? mutant.story],
    seed: firstSeed,
    seconds,
    quietMs: restMs,
    oracles: oraclesFor(mutant),
    swarm: schedules,
  });
  return {
    id: mutant.id,
    schedules: found.schedules,
    alarms: found.failures.map(({ rule, report }) =>
      [`${rule.oracle}: ${rule.sentence.split("\n")[0] ?? ""}`, ...report.schedule.faults.map(describeFault)].join(
        " ⚡ ",
      ),
    ),
  };
}
