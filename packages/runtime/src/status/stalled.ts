/** The condition `Stalled`, as kstatus knows it: the object cannot come to what its spec says, and why. */
import type { Condition, KubeObject } from "@setpoint/apimachinery";
import { conditionsOf } from "./conditions.ts";
import type { ConditionInit } from "../controller/reconcile-context.ts";
import { refusalReasons, type Refusal } from "./refusal.ts";

const type = "Stalled";

/** Conditions take at most 32,768 characters. */
const messageLengthMax = 1_024;

export function stalled({ reason, message }: Refusal): ConditionInit {
  return { type, status: "True", reason, message: message.slice(0, messageLengthMax) };
}

/** Whether a condition is what `stalled` has said; what an author says under this name is the author's. */
export function isRefused(condition: Pick<ConditionInit, "type" | "status" | "reason">): boolean {
  return (
    condition.type === type && condition.status === "True" && refusalReasons.some((each) => each === condition.reason)
  );
}

/** Whether the status says just this already. */
export function isStalledBy(object: KubeObject, refusal: Refusal): boolean {
  const { reason, message } = stalled(refusal);
  return conditionsOfStatus(object).some(
    (each) => isRefused(each) && each.reason === reason && each.message === message,
  );
}

/** Takes back what `stalled` has said in an earlier run. */
export function unstalled(object: KubeObject): ConditionInit | undefined {
  if (!conditionsOfStatus(object).some(isRefused)) return undefined;
  return { type, status: "False", reason: "Accepted", message: "Nothing was refused" };
}

function conditionsOfStatus(object: KubeObject): readonly Condition[] {
  return conditionsOf((object as { readonly status?: object }).status);
}
