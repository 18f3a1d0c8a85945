/** Guideline 7: an operator is tested by faults. */
import { explore } from "../../explore/explore.ts";
import { coverageOf } from "../../explore/coverage.ts";
import type { Guideline } from "./guideline.ts";

/** An upper limit for a busy machine: with few kinds of faults, all is explored long before. */
const secondsDefault = 60;
/** One of each family: the process dies, an answer is lost, the watch breaks, a child is deleted. */
const faultsDefault = ["A2", "B2", "C6", "E1"] as const;

export const chaos: Guideline = {
  title: "it is tested by a chaos suite",
  async problem(subject, { seed = 1, chaos: options }) {
    const { failures, coverage } = await explore({
      seconds: secondsDefault,
      faults: faultsDefault,
      ...options,
      seed,
      subject,
    });
    const [failure] = failures;
    if (failure !== undefined) return `${failure.rule.oracle}: ${failure.rule.sentence}`;
    return coverageOf(coverage).visited === 0
      ? "no fault has struck; its worlds are too slow, or have no writes"
      : undefined;
  },
};
