/** `Ready=False` of an object whose reconcile fails again and again, and when it is tried again. */
import { isConflict, messageOf, type Condition } from "@setpoint/apimachinery";
import { isOutcomeUnknown } from "@setpoint/client";
import type { ConditionInit } from "../controller/reconcile-context.ts";
import { withinText } from "./reported-problem.ts";

export const failureReason = "ReconcileFailed";

/**
 * Failures in a row after which the object reports them. One is daily life; conflicts and lost answers come
 * in rows.
 */
const reportedFailures = 2;
const reportedRaces = 5;
/** Conditions take at most 32,768 characters, and events 1,024. */
const messageLengthMax = 800;

export function isFailureReportable(error: unknown, failures: number): boolean {
  return failures >= (isConflict(error) || isOutcomeUnknown(error) ? reportedRaces : reportedFailures);
}

/**
 * `run` is the name of what failed: `Reconcile` or `Cleanup`. The same for equal errors while the back-off
 * stays in one step, so that a retry alone writes nothing.
 */
export function failureMessage(run: string, error: unknown, retryDelayMs: number | undefined): string {
  const next = retryDelayMs === undefined ? "after the next change" : withinText(retryDelayMs);
  return `${messageOfFailure(run, error)} Next retry ${next}.`;
}

/** Of an error that the condition `Stalled` explains already, with when it is retried. */
export function refusedMessage(run: string, error: unknown): string {
  return `${messageOfFailure(run, error)} The condition Stalled has the reason.`;
}

function messageOfFailure(run: string, error: unknown): string {
  return `${run} failed: ${messageOf(error).slice(0, messageLengthMax)}.`;
}

export function failureCondition(message: string): ConditionInit {
  return { type: "Ready", status: "False", reason: failureReason, message };
}

/** Whether a condition is a `failureCondition`; any other `Ready` is the author's. */
export function isFailureCondition({ type, status, reason }: Pick<Condition, "type" | "status" | "reason">): boolean {
  return type === "Ready" && status === "False" && reason === failureReason;
}
