/** The status and the conditions of a pooler, as a snapshot and its step give them; pure. */
import type { ConditionInit } from "setpoint";
import { refusalText } from "../inner/refused-field.ts";
import type { PoolerStep } from "./plan-pooler.ts";
import { poolerLabel } from "./pooler-objects.ts";
import { isPaused, type SeenPooler } from "./pooler-seen.ts";
import type { PostgresPooler } from "./postgres-pooler.ts";

type Status = Omit<NonNullable<PostgresPooler["status"]>, "conditions">;

export function poolerStatus(seen: SeenPooler): Status {
  const { pooler, pods, wanted, pauseFor } = seen;
  const { name, generation } = pooler.metadata;
  const host = wanted?.host ?? pooler.status?.host;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    instances: pods.length,
    readyInstances: readyOf(seen),
    service: name,
    selector: `${poolerLabel}=${name}`,
    ...(host === undefined ? {} : { host }),
    ...(pauseFor !== undefined && isPaused(seen) ? { pausedFor: pauseFor } : {}),
  };
}

function readyOf({ pods }: SeenPooler): number {
  return pods.filter(({ isReady }) => isReady).length;
}

export function poolerConditions(seen: SeenPooler, step: PoolerStep): readonly ConditionInit[] {
  return [
    { type: "Ready", ...readiness(seen, step) },
    { type: "Accepted", ...acceptance(seen) },
    { type: "Paused", ...pause(seen) },
  ];
}

type Verdict = Omit<ConditionInit, "type">;

/** One pod less than asked for serves clients all the same; the budget and the status tell. */
function readiness(seen: SeenPooler, step: PoolerStep): Verdict {
  const { instances } = seen.pooler.spec;
  if (step.kind === "rest" && step.stalled !== undefined) return { status: "False", ...step.stalled };
  if (step.kind !== "act" && readyOf(seen) >= instances && seen.cluster.kind === "serving")
    return {
      status: "True",
      reason: "PodsReady",
      message: `${instances} pods pass clients on to ${seen.wanted?.host ?? ""}`,
    };
  const message = step.kind === "rest" ? "The cluster does not serve" : step.reason;
  if (step.kind === "act") return { status: "Unknown", reason: "Changing", message };
  return { status: "False", reason: "NotReady", message };
}

function acceptance({ refusals }: SeenPooler): Verdict {
  return refusals.length > 0
    ? { status: "False", reason: "FieldsRefused", message: refusalText(refusals) }
    : { status: "True", reason: "Accepted", message: "All fields are accepted" };
}

function pause(seen: SeenPooler): Verdict {
  if (seen.pauseFor === undefined) return { status: "False", reason: "Serving", message: "Clients do not wait" };
  return isPaused(seen)
    ? { status: "True", reason: "ClientsWait", message: `Clients wait for the primary of term ${seen.pauseFor}` }
    : { status: "True", reason: "TransactionsOpen", message: "Open transactions end before the primary changes" };
}
