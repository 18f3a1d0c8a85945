/** How a run changes the results of a probe; pure. */
import type { Attempt, Verdict } from "../acts/act.ts";
import { type ActChange, type ActResult, changesMax, reasonLengthMax } from "../kind/compliance-probe.ts";

/** Results and changes after a run. */
export interface MergedResults {
  readonly results: readonly ActResult[];
  /** Those of this run alone. */
  readonly changes: readonly ActChange[];
}

/** What a run says of an act. */
export interface ActAttempt extends Attempt {
  readonly act: string;
}

/** The results of the acts that were asked for; what is known of others is dropped. */
export function mergeResults(before: readonly ActResult[], attempts: readonly ActAttempt[], at: string): MergedResults {
  const known = new Map(before.map((each) => [each.act, each]));
  const results = attempts.map((attempt) => mergeResult(known.get(attempt.act), attempt, at));
  const changes = results.flatMap(({ act, verdict: to }) => {
    const from = known.get(act)?.verdict;
    return from === undefined || from === to ? [] : [{ act, at, from, to }];
  });
  return { results, changes };
}

function mergeResult(before: ActResult | undefined, { act, verdict, reason }: ActAttempt, at: string): ActResult {
  const regressedAt = regression(before, verdict, at);
  const lastKnown = verdict === "Untried" ? before?.lastKnown : verdict;
  return {
    act,
    verdict,
    reason: reason.slice(0, reasonLengthMax),
    firstSeen: before?.firstSeen ?? at,
    since: before?.verdict === verdict ? before.since : at,
    ...(lastKnown === undefined ? {} : { lastKnown }),
    ...(regressedAt === undefined ? {} : { regressedAt }),
  };
}

/** Kept until the act is denied again. A try that could not be made hides no regression. */
function regression(before: ActResult | undefined, verdict: Verdict, at: string): string | undefined {
  if (verdict === "Denied") return undefined;
  return before?.lastKnown === "Denied" && verdict === "Allowed" ? at : before?.regressedAt;
}

/** The newest first. */
export function withChanges(before: readonly ActChange[], changes: readonly ActChange[]): readonly ActChange[] {
  return [...changes, ...before].slice(0, changesMax);
}
