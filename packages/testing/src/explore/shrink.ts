/** Makes a failing schedule smaller, for as long as it breaks the same rule. */
import type { Fault } from "../faults/fault.ts";
import type { RunReport, Schedule } from "./run-schedule.ts";
import type { StoryStep } from "./story.ts";

export interface ShrinkOptions {
  /** The rule that must stay broken. */
  readonly oracle: string;
  /** Runs at most. */
  readonly runsMax: number;
  run(schedule: Schedule): Promise<RunReport>;
}

/** Delta debugging over the faults, then over the steps of the story. */
export async function shrink(report: RunReport, options: ShrinkOptions): Promise<RunReport> {
  let best = report;
  let runs = 0;
  const tried = async (schedule: Schedule): Promise<boolean> => {
    if (runs++ >= options.runsMax) return false;
    const next = await options.run(schedule).catch(() => undefined);
    if (next?.broken.some(({ oracle }) => oracle === options.oracle) !== true) return false;
    best = next;
    return true;
  };
  const struck = [...new Set(report.struck.map(({ fault }) => fault))];
  await minimized<Fault>(struck.length > 0 ? struck : report.schedule.faults, (faults) =>
    tried({ ...best.schedule, faults }),
  );
  await minimized<StoryStep>(best.schedule.story.steps, (steps) =>
    tried({ ...best.schedule, story: { ...best.schedule.story, steps } }),
  );
  return best;
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
