/** Conditions that all resources of things in a server have; pure. */
import type { ConditionInit } from "setpoint";
import { type RefusedField, refusalText } from "./refused-field.ts";

export type Verdict = Omit<ConditionInit, "type">;

/** Of the condition Accepted. */
export function acceptance(refusals: readonly RefusedField[]): Verdict {
  return refusals.length > 0
    ? { status: "False", reason: "FieldsRefused", message: refusalText(refusals) }
    : { status: "True", reason: "Accepted", message: "All fields are accepted" };
}

/** Of the condition InSync; `differences` are undefined while the primary has not been asked. */
export function sync(
  differences: readonly string[] | undefined,
  step: { readonly kind: string; readonly reason?: string },
): Verdict {
  if (differences === undefined) {
    const message = step.kind === "wait" ? (step.reason ?? "") : "Nobody was asked";
    return { status: "Unknown", reason: "NotAsked", message };
  }
  return differences.length === 0
    ? { status: "True", reason: "AsSpecified", message: "PostgreSQL has what the spec says" }
    : { status: "False", reason: "Differs", message: differences.join("; ") };
}
