/** Which of the allowed acts are accepted at a time; pure. */
import type { AcceptedAct } from "../kind/accepted.ts";
import type { ActResult } from "../kind/compliance-probe.ts";

/** The acceptance in force; of several the one that lasts longest. */
function acceptanceOf(act: string, accepted: readonly AcceptedAct[], nowMs: number): AcceptedAct | undefined {
  return accepted
    .filter((each) => each.act === act && untilMs(each) > nowMs)
    .toSorted((a, b) => untilMs(b) - untilMs(a))[0];
}

export function untilMs({ until }: Pick<AcceptedAct, "until">): number {
  return until === undefined ? Infinity : Date.parse(until);
}

/** The results with what is accepted of them now. */
export function withAcceptance(
  results: readonly ActResult[],
  accepted: readonly AcceptedAct[],
  nowMs: number,
): readonly ActResult[] {
  return results.map(({ accepted: _accepted, acceptedUntil: _until, ...result }) => {
    const acceptance = result.verdict === "Allowed" ? acceptanceOf(result.act, accepted, nowMs) : undefined;
    if (acceptance === undefined) return result;
    const { reason, until } = acceptance;
    return { ...result, accepted: reason, ...(until === undefined ? {} : { acceptedUntil: until }) };
  });
}

/** When the next acceptance ends; Infinity when none does. */
export function nextEndMs(accepted: readonly AcceptedAct[], nowMs: number): number {
  return Math.min(...accepted.map(untilMs).filter((ms) => ms > nowMs));
}
