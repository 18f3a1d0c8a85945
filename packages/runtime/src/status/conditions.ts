import type { Condition } from "@setpoint/apimachinery";
import type { ConditionInit } from "../controller/reconcile-context.ts";

/**
 * Completes conditions: a condition whose status stays keeps its time of transition. `present` are the
 * conditions that the object has.
 */
export function completeConditions(
  wanted: readonly ConditionInit[],
  present: readonly Condition[],
  generation: number | undefined,
  now: string,
): readonly Condition[] {
  return wanted.map((condition) => {
    const before = present.find((each) => each.type === condition.type);
    const { type, status, reason, message } = condition;
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    return generation === undefined
      ? { type, status, lastTransitionTime, reason, message }
      : { type, status, observedGeneration: generation, lastTransitionTime, reason, message };
  });
}

/** The conditions of any object's status; none when there are none. */
export function conditionsOf(status: unknown): readonly Condition[] {
  const conditions =
    typeof status === "object" && status !== null ? (status as { conditions?: unknown }).conditions : undefined;
  return Array.isArray(conditions) ? (conditions as readonly Condition[]) : [];
}
