/** What a ComplianceProbe says of itself; pure. */
import { type ConditionInit, declareConditions } from "setpoint";
import type { ActAttempt } from "./results.ts";
import type { ActResult, ProbeRun, ProbeStatus } from "../kind/compliance-probe.ts";
import { selectedActs } from "../run/probe-pod.ts";
import type { Seen, SeenRun } from "../seen/seen.ts";
import { withAcceptance } from "./acceptance.ts";
import { nextRunMs } from "./due.ts";
import { isRecorded, scheduleProblem } from "./plan.ts";
import { mergeResults, type MergedResults, withChanges } from "./results.ts";

const failureLengthMax = 500;
const namesMax = 5;

export const health = declareConditions({
  Compliant: {
    polarity: "positive",
    reasons: {
      AllDenied: "True",
      AllowedAccepted: "True",
      ForbiddenActsAllowed: "False",
      NotYetProbed: "Unknown",
      NothingTried: "Unknown",
    },
    stalls: ["ForbiddenActsAllowed"],
  },
  Probed: {
    polarity: "positive",
    reasons: {
      RunFinished: "True",
      NotYetProbed: "Unknown",
      RunFailed: "False",
      PodNotRunning: "False",
      BaselineUnusable: "False",
      ScheduleRefused: "False",
    },
    stalls: ["BaselineUnusable", "ScheduleRefused"],
  },
});

/** The status as it is before the step. */
export function statusOf(seen: Seen): ProbeStatus {
  const { metadata, status } = seen.probe;
  const results = withAcceptance(status?.results ?? [], seen.accepted, seen.nowMs);
  const next = scheduleProblem(seen) === undefined ? nextRunMs(seen) : undefined;
  return {
    observedGeneration: metadata.generation,
    ...counts(results),
    ...(status?.results === undefined ? {} : { results: [...results] }),
    ...(status?.changes === undefined ? {} : { changes: status.changes }),
    ...(status?.lastRun === undefined ? {} : { lastRun: status.lastRun }),
    ...(next === undefined ? {} : { nextRun: timestampOf(next) }),
  };
}

function counts(results: readonly ActResult[]): ProbeStatus {
  if (results.length === 0) return {};
  const count = (test: (result: ActResult) => boolean): number => results.filter(test).length;
  return {
    denied: count(({ verdict }) => verdict === "Denied"),
    allowed: count(isViolation),
    accepted: count(({ verdict, accepted }) => verdict === "Allowed" && accepted !== undefined),
    untried: count(({ verdict }) => verdict === "Untried"),
  };
}

export function isViolation({ verdict, accepted }: ActResult): boolean {
  return verdict === "Allowed" && accepted === undefined;
}

/** The status with what a run has found, and what changed by it. */
export function recordedRun(
  seen: Seen,
  run: SeenRun,
): { readonly status: ProbeStatus; readonly merged: MergedResults } {
  const { status: before } = seen.probe;
  const at = run.finishedAt ?? timestampOf(seen.nowMs);
  const merged = mergeResults(before?.results ?? [], attemptsOf(seen, run), at);
  const lastRun = runOf(seen, run, at);
  const { failure } = lastRun;
  // A run that reported nothing at all says nothing of any act.
  const isEmpty = run.attempts.size === 0 && failure !== undefined;
  const probe = {
    ...seen.probe,
    status: {
      ...before,
      ...(isEmpty
        ? {}
        : { results: [...merged.results], changes: [...withChanges(before?.changes ?? [], merged.changes)] }),
      lastRun,
    },
  };
  return { status: statusOf({ ...seen, probe }), merged: isEmpty ? { ...merged, changes: [] } : merged };
}

/** An act without a report was not tried. */
function attemptsOf({ probe }: Seen, { attempts, problem }: SeenRun): readonly ActAttempt[] {
  const reason = problem ?? "the pod reported nothing of it";
  return selectedActs(probe.spec).map((act) => ({ act, ...(attempts.get(act) ?? { verdict: "Untried", reason }) }));
}

function runOf({ probe }: Seen, run: SeenRun, finishedAt: string): ProbeRun {
  const missing = selectedActs(probe.spec).filter((act) => !run.attempts.has(act)).length;
  const failure = missing === 0 ? undefined : (run.problem ?? `${missing} acts were not reported`);
  return {
    number: run.number,
    pod: run.name,
    startedAt: run.startedAt,
    finishedAt,
    generation: run.generation,
    ...(run.requested === undefined ? {} : { requested: run.requested }),
    ...(failure === undefined ? {} : { failure: failure.slice(0, failureLengthMax) }),
  };
}

export function conditionsOf(seen: Seen): readonly ConditionInit[] {
  const { results = [] } = statusOf(seen);
  return health.of({ Compliant: compliance(results), Probed: probed(seen) });
}

type Said<Reason extends string> = readonly [Reason, string];

function compliance(
  results: readonly ActResult[],
): Said<"AllDenied" | "AllowedAccepted" | "ForbiddenActsAllowed" | "NotYetProbed" | "NothingTried"> {
  const violations = results.filter(isViolation);
  const accepted = results.filter((each) => each.accepted !== undefined);
  const untried = results.filter(({ verdict }) => verdict === "Untried");
  const tried = results.length - untried.length;
  const rest = untried.length === 0 ? "" : `; ${untried.length} could not be tried`;
  if (results.length === 0) return ["NotYetProbed", "No run has ended yet"];
  if (tried === 0) return ["NothingTried", `None of ${results.length} acts could be tried: ${untried[0]?.reason}`];
  if (violations.length > 0)
    return ["ForbiddenActsAllowed", `${violations.length} of ${tried} acts are allowed: ${namesOf(violations)}${rest}`];
  if (accepted.length > 0)
    return ["AllowedAccepted", `${accepted.length} of ${tried} acts are allowed and accepted${rest}`];
  return ["AllDenied", `All tried acts are denied: ${tried} of ${results.length}${rest}`];
}

function namesOf(results: readonly ActResult[]): string {
  const names = results.slice(0, namesMax).map(({ act }) => act);
  const more = results.length - names.length;
  return more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`;
}

function probed(
  seen: Seen,
): Said<"RunFinished" | "NotYetProbed" | "RunFailed" | "PodNotRunning" | "BaselineUnusable" | "ScheduleRefused"> {
  const last = seen.probe.status?.lastRun;
  const refused = scheduleProblem(seen);
  if (refused !== undefined) return ["ScheduleRefused", refused];
  if (seen.baselineProblem !== undefined) return ["BaselineUnusable", seen.baselineProblem];
  const problem = startProblem(seen);
  if (problem !== undefined) return ["PodNotRunning", problem];
  if (last === undefined) return ["NotYetProbed", "No run has ended yet"];
  if (last.failure !== undefined)
    return ["RunFailed", `Run ${last.number} brought no complete result: ${last.failure}`];
  return ["RunFinished", `Run ${last.number} has ended`];
}

/** Why the pod of a run does not start. */
function startProblem(seen: Seen): string | undefined {
  const { run } = seen;
  return run === undefined || run.finishedAt !== undefined || isRecorded(seen) ? undefined : run.problem;
}

function timestampOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
