/**
 * `Ready`, `Reconciling` and `Stalled`: one answer for people and for kstatus, from all declared conditions.
 */
import type { ConditionDeclaration, SummarizedCondition } from "../controller/condition-protocol.ts";
import type { ConditionInit } from "../controller/reconcile-context.ts";

import { isFailureCondition } from "./failure-condition.ts";

/** The types that follow from the others. */
export const summaryTypes: ReadonlySet<string> = new Set(["Ready", "Reconciling", "Stalled"]);

type Verdict = "good" | "bad" | "unknown";

interface Judged {
  readonly type: string;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly message: string;
  readonly stalls: boolean;
}

export function summaryOf(
  declared: Readonly<Record<string, ConditionDeclaration>>,
  conditions: readonly SummarizedCondition[],
  generation: number | undefined,
): readonly ConditionInit[] {
  const judged = Object.entries(declared).map(([type, declaration]) =>
    judge(
      type,
      declaration,
      conditions.find((each) => each.type === type),
      generation,
    ),
  );
  const stalled = conditions.find(({ type, status }) => type === "Stalled" && status === "True");
  const ready =
    stalled === undefined
      ? (conditions.find(isFailureCondition) ?? readyOf(judged))
      : { ...stalled, type: "Ready", status: "False" as const };
  return [ready, reconciling(ready, conditions, stalled ?? judged.find(isStall)), stalledOf(judged, stalled)];
}

/** A bad condition outweighs an unknown one; the first in the order of the declaration speaks. */
function readyOf(judged: readonly Judged[]): ConditionInit {
  const bad = judged.find(({ verdict }) => verdict === "bad");
  if (bad !== undefined) return { type: "Ready", status: "False", reason: bad.reason, message: bad.message };
  const unknown = judged.find(({ verdict }) => verdict === "unknown");
  if (unknown !== undefined)
    return { type: "Ready", status: "Unknown", reason: unknown.reason, message: unknown.message };
  return { type: "Ready", status: "True", reason: "DesiredStateReached", message: "Desired state reached" };
}

/** kstatus: True as long as the controller works towards the spec. */
function reconciling(
  ready: ConditionInit,
  conditions: readonly ConditionInit[],
  stalled: { readonly reason: string; readonly message: string } | undefined,
): ConditionInit {
  const type = "Reconciling";
  if (stalled !== undefined) return { type, status: "False", reason: stalled.reason, message: stalled.message };
  const step = conditions.find((each) => each.type === "Progressing" && each.status === "True");
  const why = step ?? (ready.status === "True" ? undefined : ready);
  if (why !== undefined) return { type, status: "True", reason: why.reason, message: why.message };
  return { type, status: "False", reason: ready.reason, message: ready.message };
}

function stalledOf(judged: readonly Judged[], stalled: ConditionInit | undefined): ConditionInit {
  const by = stalled ?? judged.find(isStall);
  if (by !== undefined) return { type: "Stalled", status: "True", reason: by.reason, message: by.message };
  return { type: "Stalled", status: "False", reason: "NotStalled", message: "Nothing waits for a person" };
}

function isStall({ stalls }: Judged): boolean {
  return stalls;
}

function judge(
  type: string,
  { polarity, stalls }: ConditionDeclaration,
  condition: SummarizedCondition | undefined,
  generation: number | undefined,
): Judged {
  const seen = condition?.observedGeneration;
  if (condition === undefined || (seen !== undefined && generation !== undefined && seen < generation)) {
    const message = `${type} is not known for this generation yet`;
    return {
      type,
      verdict: polarity === "informative" ? "good" : "unknown",
      reason: "NotYetKnown",
      message,
      stalls: false,
    };
  }
  const { status, reason, message } = condition;
  return { type, verdict: verdictOf(polarity, status), reason, message, stalls: stalls?.includes(reason) ?? false };
}

function verdictOf(polarity: ConditionDeclaration["polarity"], status: ConditionInit["status"]): Verdict {
  if (polarity === "informative") return "good";
  if (status === "Unknown") return "unknown";
  return (status === "True") === (polarity === "positive") ? "good" : "bad";
}
