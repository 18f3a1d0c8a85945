/** Makes a failing schedule smaller, for as long as it breaks the same rule. */
import type { Fault } from "../faults/fault.ts";
import { sitePattern } from "../faults/site-pattern.ts";
import type { BrokenRule } from "../oracles/oracle.ts";
import type { RunReport, Schedule } from "./run-schedule.ts";
import type { StoryStep } from "./story.ts";

export interface ShrinkOptions {
  /** The rule that must stay broken. */
  readonly oracle: string;
  /** Runs at most. */
  readonly runsMax: number;
  /** Whether the time is up: what is smallest until then is good enough. */
  isOver(): boolean;
  /** `like` is the run without faults to which it is compared; absent: that of the whole story. */
  run(schedule: Schedule, like?: RunReport): Promise<RunReport>;
}

/** Delta debugging over the faults, then over the steps of the story. */
export async function shrink(report: RunReport, options: ShrinkOptions): Promise<RunReport> {
  let best = report;
  let runs = 0;
  const ran = async (schedule: Schedule, like?: RunReport): Promise<RunReport | undefined> =>
    options.isOver() || runs++ >= options.runsMax ? undefined : options.run(schedule, like).catch(() => undefined);
  const breaks = (run: RunReport | undefined): run is RunReport =>
    run?.broken.some(({ oracle }) => oracle === options.oracle) === true;
  const tried = async (schedule: Schedule, like?: RunReport): Promise<boolean> => {
    const next = await ran(schedule, like);
    if (breaks(next)) best = next;
    return best === next;
  };
  const sentence = sentenceOf(report, options.oracle);
  /**
   * A shorter story is the same failure only if it is well without the faults; its own end is what it is
   * compared to. Where no fault is needed, the same must be said of it: a story whose first step is missing
   * fails too, but for another reason.
   */
  const triedStory = async (steps: readonly StoryStep[]): Promise<boolean> => {
    const schedule = { ...best.schedule, story: { ...best.schedule.story, steps } };
    const like = await ran({ ...schedule, faults: [] });
    if (schedule.faults.length === 0) {
      const isSame = breaks(like) && sentenceOf(like, options.oracle) === sentence;
      if (isSame) best = like;
      return isSame;
    }
    return like !== undefined && like.broken.length === 0 && tried(schedule, like);
  };
  const struck = [...new Set(report.struck.map(({ fault }) => fault))];
  await minimized<Fault>(struck.length > 0 ? struck : report.schedule.faults, (faults) =>
    tried({ ...best.schedule, faults }),
  );
  await minimized<StoryStep>(best.schedule.story.steps, triedStory);
  return best;
}

/** The sentence of a broken rule without random names, and without numbers, which are times and versions. */
export function sentencePattern({ sentence }: BrokenRule): string {
  return sitePattern(sentence.split("\n")[0] ?? "").replaceAll(/\d+/g, "");
}

function sentenceOf(report: RunReport, oracle: string): string | undefined {
  const rule = report.broken.find((each) => each.oracle === oracle);
  return rule === undefined ? undefined : sentencePattern(rule);
}

/** ddmin: leaves parts out, first large ones, then smaller ones. */
async function minimized<T>(list: readonly T[], fails: (list: readonly T[]) => Promise<boolean>): Promise<void> {
  let rest = list;
  for (let size = Math.ceil(rest.length / 2); size >= 1;) {
    const smaller = await firstFailing(rest, size, fails);
    if (smaller !== undefined) rest = smaller;
    else if (size === 1) return;
    else size = Math.ceil(size / 2);
    size = Math.min(size, Math.max(1, Math.ceil(rest.length / 2)));
    if (rest.length <= 1 && size === 1) {
      if (rest.length === 1) await fails([]);
      return;
    }
  }
}

async function firstFailing<T>(
  list: readonly T[],
  size: number,
  fails: (list: readonly T[]) => Promise<boolean>,
): Promise<readonly T[] | undefined> {
  for (let start = 0; start < list.length; start += size) {
    const without = [...list.slice(0, start), ...list.slice(start + size)];
    if (without.length > 0 && (await fails(without))) return without;
  }
  return undefined;
}
