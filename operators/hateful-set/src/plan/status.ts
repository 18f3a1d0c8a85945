/** What the status says of a snapshot and the step that was decided; pure. */
import { type ConditionInit, declareConditions } from "setpoint";
import { type ActRecord, isOpen, recordsMax } from "../kind/act-record.ts";
import { chaosNames } from "../kind/chaos-names.ts";
import type { HatefulSet } from "../kind/hateful-set.ts";
import { abortionOf, occasionOf } from "../seen/occasion.ts";
import type { Seen } from "../seen/seen.ts";
import type { ChaosStep } from "./chaos-step.ts";
import { observedAct } from "./observed-act.ts";
import { countedActs, decisionMs, isScheduled } from "./schedule.ts";

type Status = Omit<NonNullable<HatefulSet["status"]>, "conditions">;

export const health = declareConditions({
  Active: {
    polarity: "positive",
    stalls: ["Suspended", "Aborted"],
    reasons: { Scheduled: "True", OnRequest: "True", Suspended: "False", Aborted: "False" },
  },
});

export function conditionsOf({ set }: Seen, step: ChaosStep): readonly ConditionInit[] {
  const { chaosLevel, interval, suspend } = set.spec;
  const aborted = step.kind === "act" && step.action === "abort" ? step.args.why : abortionOf(set)?.reason;
  if (suspend) return health.of({ Active: ["Suspended", "spec.suspend is set: no act begins"] });
  if (aborted !== undefined) return health.of({ Active: ["Aborted", aborted] });
  if (chaosLevel === 0) return health.of({ Active: ["OnRequest", "Acts happen on request only"] });
  const often = `${chaosLevel} of 10 intervals of ${interval} s bring an act`;
  return health.of({ Active: ["Scheduled", often] });
}

export function statusOf(seen: Seen, step: ChaosStep, nowMs: number): Status {
  const before = seen.set.status;
  const begun = begunAct(step, before?.acts ?? []);
  const ended = step.kind === "act" && step.action === "recordRecovery" ? step.args.seconds : undefined;
  return {
    observedGeneration: seen.set.metadata.generation,
    ...schedule(seen, step, nowMs),
    lastRequest: answeredRequest(seen, step, nowMs),
    declined: declined(seen, step, nowMs),
    recentActs: recentActs(seen, begun, nowMs),
    total: (before?.total ?? 0) + (begun?.phase === "Intended" ? 1 : 0),
    recovered: (before?.recovered ?? 0) + (ended === undefined ? 0 : 1),
    slowestRecoverySeconds: slowest(before?.slowestRecoverySeconds, ended),
    aborted: abortion(seen, step, nowMs),
    acts: acts(seen, step, begun, nowMs),
  };
}

/** The act that this step begins: one that the status has not yet. */
function begunAct(step: ChaosStep, known: readonly ActRecord[]): ActRecord | undefined {
  if (step.kind !== "act" || !(step.action === "strike" || step.action === "pretend")) return undefined;
  const { act } = step.args;
  return known.some(({ id, phase }) => id === act.id && (isOpen({ ...act, phase }) || phase === act.phase))
    ? undefined
    : act;
}

function acts(seen: Seen, step: ChaosStep, begun: ActRecord | undefined, nowMs: number): Status["acts"] {
  const known = (seen.set.status?.acts ?? []).map((act) =>
    isOpen(act) ? endedAct(observedAct(seen, act, nowMs), step, nowMs) : act,
  );
  const all = begun === undefined ? known : [...known, begun];
  return all.length === 0 ? undefined : all.slice(-recordsMax);
}

function endedAct(act: ActRecord, step: ChaosStep, nowMs: number): ActRecord {
  if (step.kind !== "act") return act;
  switch (step.action) {
    case "recordRecovery":
      return { ...act, phase: "Recovered", recoveredAfterSeconds: step.args.seconds };
    case "withdraw":
      return { ...act, phase: "Withdrawn", message: step.args.why };
    case "abort":
      return { ...act, phase: "NotRecovered", message: step.args.why };
    case "undo":
      return act.lasting === undefined || act.lasting.policy !== step.args.policy
        ? act
        : { ...act, lasting: { ...act.lasting, endedAt: new Date(nowMs).toISOString() } };
    default:
      return act;
  }
}

/** A decision counts once it is made; what waits is decided again. */
function schedule(seen: Seen, step: ChaosStep, nowMs: number): Pick<Status, "interval" | "nextDecision"> {
  const { status, metadata } = seen.set;
  const interval = status?.interval ?? 1;
  const isAborting = step.kind === "act" && step.action === "abort";
  if (!isScheduled(seen) || isAborting) return { interval };
  const at = (number: number): string => new Date(decisionMs(seen, number, nowMs)).toISOString();
  const isMade = occasionOf(seen.set, nowMs)?.kind === "interval" && step.kind !== "wait" && !isUndo(step);
  if (isMade) return { interval: interval + 1, nextDecision: at(interval + 1) };
  const next = status?.nextDecision;
  const isOutdated = next === undefined || status?.observedGeneration !== metadata.generation;
  // A target that has recovered late gets a whole interval of peace.
  const isOver =
    step.kind === "act" && step.action === "recordRecovery" && next !== undefined && Date.parse(next) <= nowMs;
  return { interval, nextDecision: isOutdated || isOver ? at(interval) : next };
}

/** A fault that nobody knows is removed before anything is decided. */
function isUndo(step: ChaosStep): boolean {
  return step.kind === "act" && step.action === "undo";
}

function answeredRequest({ set }: Seen, step: ChaosStep, nowMs: number): string | undefined {
  const isAnswered = occasionOf(set, nowMs)?.kind === "request" && step.kind === "act" && !isUndo(step);
  return isAnswered ? set.metadata.annotations?.[chaosNames.strike] : set.status?.lastRequest;
}

function declined(seen: Seen, step: ChaosStep, nowMs: number): string | undefined {
  if (step.kind === "act" && step.action === "decline") return step.args.why;
  const { status } = seen.set;
  return answeredRequest(seen, step, nowMs) === status?.lastRequest ? status?.declined : undefined;
}

function recentActs(seen: Seen, begun: ActRecord | undefined, nowMs: number): Status["recentActs"] {
  if (begun?.phase !== "Intended") return seen.set.status?.recentActs;
  return [...countedActs(seen, nowMs), begun.at];
}

function slowest(before: number | undefined, ended: number | undefined): number | undefined {
  return ended === undefined ? before : Math.max(before ?? 0, ended);
}

function abortion({ set }: Seen, step: ChaosStep, nowMs: number): Status["aborted"] {
  if (step.kind !== "act" || step.action !== "abort") return abortionOf(set);
  const { generation = 0, annotations } = set.metadata;
  const resume = annotations?.[chaosNames.resume];
  const at = new Date(nowMs).toISOString();
  return { at, reason: step.args.why, generation, ...(resume === undefined ? {} : { resume }) };
}
