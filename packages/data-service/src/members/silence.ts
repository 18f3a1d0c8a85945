/**
 * How long members have been silent, or failed, by a clock that nobody sets: whether a member is given up
 * must not depend on the wall clock, which may jump. A new process counts from its own start, so that it
 * gives a member up later, never sooner; pure.
 */

/** Since when each problem has lasted, by a word for the problem. */
export type Silence = ReadonlyMap<string, number>;

/** Before anything was observed. */
export const noSilence: Silence = new Map();

/** With the problems that there are now; one that has ended is forgotten. */
export function noteSilence(before: Silence, problems: readonly string[], nowMs: number): Silence {
  return new Map(problems.map((problem) => [problem, before.get(problem) ?? nowMs]));
}
