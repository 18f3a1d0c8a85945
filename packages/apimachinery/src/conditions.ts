/** Conditions of a status, as the API conventions require them. */
import type { Condition } from "./object.ts";

/** What a writer of a condition sets; `setCondition` fills the transition time and the generation. */
export type ConditionInit = Pick<Condition, "type" | "status" | "reason" | "message">;

/** The condition of this type; undefined when the object has none. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Whether the condition exists and its status is True. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/**
 * The list with this condition set. Its lastTransitionTime moves only when its status does; the same list
 * comes back when nothing changes, so that an unchanged status stays unchanged.
 *
 * @param now RFC 3339 in seconds
 * @param generation the metadata.generation that the writer observed
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  condition: ConditionInit,
  now: string,
  generation: number | undefined,
): readonly Condition[] {
  const before = findCondition(conditions, condition.type);
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : now;
  const { type, status, reason, message } = condition;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const next: Condition = { type, status, ...observed, lastTransitionTime, reason, message };
  if (before === undefined) return [...(conditions ?? []), next];
  const isSame =
    before.status === status &&
    before.reason === reason &&
    before.message === message &&
    before.observedGeneration === generation;
  if (isSame && conditions !== undefined) return conditions;
  return (conditions ?? []).map((each) => (each === before ? next : each));
}
