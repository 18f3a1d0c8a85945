/** The status and the conditions of a binding, as a snapshot and its step give them; pure. */
import { timestampAt } from "@setpoint/host";
import type { ConditionInit, StepFacts } from "setpoint";
import type { ServiceBinding } from "../kinds/service-binding.ts";
import { type BindingStep, nextRotationMs } from "./plan-binding.ts";
import { publishedLogin, type SeenBinding } from "./seen-binding.ts";

type Status = Omit<NonNullable<ServiceBinding["status"]>, "conditions">;

/** Written before the step is performed: a login is recorded before its user is created. */
export function bindingStatus(seen: SeenBinding, step: BindingStep, { now }: Pick<StepFacts, "now">): Status {
  const { status, spec } = seen.binding;
  if (step.kind !== "act" || step.action !== "issueLogin") return statusWith(seen, {});
  const { user, generation } = step.args;
  const others = seen.logins.filter((login) => login.user !== user);
  return statusWith(seen, {
    logins: [...others, { user, generation, state: "Pending", since: now, rights: spec.rights }],
    generation: Math.max(status?.generation ?? 0, generation),
    rotationRequest: spec.rotation.request,
  });
}

/** The status of a snapshot with some fields replaced. */
export function statusWith(seen: SeenBinding, changes: Partial<Status>): Status {
  const { status } = seen.binding;
  const rotationMs = nextRotationMs(seen);
  const isPublished = seen.secret.kind === "ours" && (seen.proven || status?.binding !== undefined);
  return {
    ...status,
    observedGeneration: seen.binding.metadata.generation,
    binding: isPublished ? { name: seen.secretName } : undefined,
    logins: seen.logins,
    nextRotation: rotationMs === Infinity ? undefined : timestampAt(rotationMs),
    ...changes,
  };
}

export function bindingConditions(seen: SeenBinding, step: BindingStep): readonly ConditionInit[] {
  return [{ type: "Ready", ...readiness(seen, step) }];
}

function readiness(seen: SeenBinding, step: BindingStep): Omit<ConditionInit, "type"> {
  const published = publishedLogin(seen);
  if (published !== undefined && seen.proven)
    return {
      status: "True",
      reason: "Bound",
      message: `User ${published.user} logs in with Secret "${seen.secretName}"`,
    };
  const reason = notReadyReason(seen);
  // A step that fails reports its own error as `Ready=False`, unless the condition has said False already.
  if (step.kind === "act") return { status: "Unknown", reason, message: step.reason };
  return { status: "False", reason, message: step.kind === "rest" ? "No login is published" : step.reason };
}

function notReadyReason({ instance, secret, refused }: SeenBinding): string {
  if (instance === undefined) return "InstanceMissing";
  if (secret.kind === "taken") return "SecretNameTaken";
  if (!instance.state.serving) return "InstanceNotServing";
  return refused === undefined ? "LoginPending" : "LoginRefused";
}
