/** The status and the conditions of a binding, as a snapshot and its step give them; pure. */
import { timestampAt } from "@setpoint/host";
import { type ConditionInit, parseDuration, type StepFacts } from "setpoint";
import type { Login, ServiceBinding } from "../kinds/service-binding.ts";
import { type BindingStep, nextRotationMs, rotationDue } from "./plan-binding.ts";
import { publishedLogin, type SeenBinding } from "./seen-binding.ts";

type Status = Omit<NonNullable<ServiceBinding["status"]>, "conditions">;

/** Written before the step is performed: a login is recorded before its user is created. */
export function bindingStatus(seen: SeenBinding, step: BindingStep, { now }: Pick<StepFacts, "now">): Status {
  if (step.kind !== "act") return statusWith(seen, {});
  if (step.action === "prepareLogin") return statusWith(seen, recorded(seen, step.args, now));
  if (step.action === "issueLogin") return statusWith(seen, { logins: withRights(seen, step.args.user) });
  return statusWith(seen, {});
}

function recorded({ binding, logins }: SeenBinding, login: Pick<Login, "user" | "generation">, now: string): object {
  const { status, spec } = binding;
  const others = logins.filter(({ user }) => user !== login.user);
  return {
    logins: [...others, { ...login, state: "Pending", since: now }],
    generation: Math.max(status?.generation ?? 0, login.generation),
    rotationRequest: spec.rotation.request,
  };
}

/** The logins, with the rights of the spec for one of them. */
export function withRights({ logins, binding }: SeenBinding, user: string): readonly Login[] {
  const { rights } = binding.spec;
  return logins.map((login) => (login.user === user ? { ...login, rights } : login));
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

export function bindingConditions(
  seen: SeenBinding,
  step: BindingStep,
  { now }: Pick<StepFacts, "now">,
): readonly ConditionInit[] {
  return [
    { type: "Ready", ...readiness(seen, step) },
    { type: "Rotating", ...rotation(seen, step, Date.parse(now)) },
  ];
}

/** From the first step of a rotation until the user before is dropped. */
function rotation(seen: SeenBinding, step: BindingStep, nowMs: number): Omit<ConditionInit, "type"> {
  const published = publishedLogin(seen);
  if (published === undefined) return { status: "False", reason: "NoLogin", message: "No login is published yet" };
  const retiring = seen.logins.filter(({ state }) => state === "Retiring");
  const isNext = seen.logins.some(({ state, user }) => state === "Pending" && user !== published.user);
  if (isNext || rotationDue(seen, nowMs) !== undefined) {
    if (step.kind === "act") return { status: "True", reason: "NextLogin", message: step.reason };
    const limit = `there are ${seen.logins.length} logins; the next one is made when ${overlapText(seen, retiring[0])}`;
    return { status: "True", reason: "Waiting", message: step.kind === "wait" ? step.reason : limit };
  }
  if (retiring.length > 0)
    return {
      status: "True",
      reason: "Overlap",
      message: `User ${published.user} is in the Secret; ${overlapText(seen, retiring.at(-1))}`,
    };
  return { status: "False", reason: "NotRotating", message: nextText(nextRotationMs(seen)) };
}

function overlapText({ binding }: SeenBinding, retiring: Login | undefined): string {
  if (retiring === undefined) return "an older one is dropped";
  const endsMs = Date.parse(retiring.since) + parseDuration(binding.spec.rotation.overlap);
  return `user ${retiring.user} works until ${timestampAt(endsMs)} and is then dropped`;
}

function nextText(nextMs: number): string {
  return nextMs === Infinity ? "No rotation is due" : `The next rotation is due at ${timestampAt(nextMs)}`;
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

function notReadyReason({ instance, secret, keeper, refused }: SeenBinding): string {
  if (instance === undefined) return "InstanceMissing";
  if (secret.kind === "taken" || keeper.kind === "taken") return "SecretNameTaken";
  if (!instance.state.serving) return "InstanceNotServing";
  if (instance.unavailable !== undefined) return "UsersUnavailable";
  return refused === undefined ? "LoginPending" : "LoginRefused";
}
