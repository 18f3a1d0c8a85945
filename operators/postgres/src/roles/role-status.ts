/** The status and the conditions of a role, as a snapshot and its step give them; pure. */
import { type ConditionInit, type StepFacts } from "setpoint";
import { acceptance, sync, type Verdict } from "../inner/inner-conditions.ts";
import { differencesOf, retiringLogin, type RoleStep } from "./plan-role.ts";
import { type PostgresRole, roleNameOf } from "./postgres-role.ts";
import { secretNameOf } from "./role-secret.ts";
import type { SeenRole } from "./role-seen.ts";

type Status = Omit<NonNullable<PostgresRole["status"]>, "conditions">;

export function roleStatus(seen: SeenRole, _: RoleStep, { now }: Pick<StepFacts, "now">): Status {
  const { role, password, answer } = seen;
  const current = password.kind === "generated" ? password.current : undefined;
  const sinceMs = password.kind === "generated" ? password.sinceMs : 0;
  const retiring = retiringLogin(seen, Date.parse(now));
  const drift = answer === undefined ? (role.status?.drift ?? []) : differencesOf(seen);
  const { generation } = role.metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    role: roleNameOf(role),
    ...(role.spec.password === undefined ? {} : { secretName: secretNameOf(role) }),
    ...(current === undefined ? {} : { login: current.user, passwordSince: new Date(sinceMs).toISOString() }),
    ...(retiring === undefined ? {} : { retiring }),
    ...(drift.length === 0 ? {} : { drift: [...drift] }),
  };
}

export function roleConditions(
  seen: SeenRole,
  step: RoleStep,
  { now }: Pick<StepFacts, "now">,
): readonly ConditionInit[] {
  return [
    { type: "Ready", ...readiness(seen, step) },
    { type: "Accepted", ...acceptance(seen.refusals) },
    { type: "InSync", ...sync(seen.answer === undefined ? undefined : differencesOf(seen), step) },
    { type: "Rotating", ...rotation(seen, step, Date.parse(now)) },
  ];
}

function readiness(seen: SeenRole, step: RoleStep): Verdict {
  if (step.kind === "act") return { status: "Unknown", reason: "Changing", message: step.reason };
  if (step.kind === "wait") return { status: "False", reason: waitReason(seen), message: step.reason };
  if (step.stalled !== undefined) return { status: "False", ...step.stalled };
  const drift = differencesOf(seen);
  if (drift.length > 0) return { status: "False", reason: "Drifted", message: drift.join("; ") };
  return { status: "True", reason: "RoleReady", message: `role "${roleNameOf(seen.role)}" is as the spec says` };
}

function waitReason({ password, cluster, answer }: SeenRole): string {
  if (password.kind === "refused") return "SecretRefused";
  if (cluster.kind !== "serving") return cluster.kind === "missing" ? "ClusterMissing" : "ClusterNotReady";
  if (answer === undefined) return "PrimarySilent";
  return answer.missingGroups.length > 0 ? "GroupsMissing" : "RoleNotTakenOver";
}

function rotation(seen: SeenRole, step: RoleStep, nowMs: number): Verdict {
  const isNext = seen.password.kind === "generated" && seen.password.next !== undefined;
  if (isNext) return { status: "True", reason: "NextPassword", message: step.kind === "rest" ? "" : step.reason };
  const retiring = retiringLogin(seen, nowMs);
  return retiring === undefined
    ? { status: "False", reason: "NotRotating", message: "One password is in use" }
    : { status: "True", reason: "Overlap", message: `login ${retiring.user} works until ${retiring.until}` };
}
