/** Available, Degraded, Accepted and Archived; pure. The runtime adds Progressing from the step. */
import { archivedCondition, fencingCondition } from "@setpoint/data-service";
import type { ConditionInit } from "setpoint";
import { refusalText } from "../plan/plan.ts";
import { fencingOf, isFenced } from "../plan/fencing.ts";
import { isHibernated } from "../plan/plan-hibernation.ts";
import { settingErrorsOf } from "../plan/plan-settings.ts";
import type { PostgresStep } from "../plan/postgres-step.ts";
import { acceptsWrites, isReady, primaryOf, type Seen } from "../seen/seen.ts";
import { archiveOf } from "./status.ts";

const asleep = "All instances stop and keep their volumes, until spec.hibernated is false";

export function postgresConditions(seen: Seen, step: PostgresStep): readonly ConditionInit[] {
  return [available(seen, step), degraded(seen), accepted(seen), fencingCondition(fencingOf(seen)), ...archived(seen)];
}

function available(seen: Seen, step: PostgresStep): ConditionInit {
  const primary = primaryOf(seen);
  if (primary !== undefined && acceptsWrites(primary))
    return {
      type: "Available",
      status: "True",
      reason: "PrimaryAcceptsWrites",
      message: `${primary.name} accepts writes`,
    };
  if (isHibernated(seen)) return { type: "Available", status: "False", reason: "Hibernated", message: asleep };
  if (primary !== undefined && isFenced(seen, primary.name))
    return {
      type: "Available",
      status: "False",
      reason: "PrimaryFenced",
      message: `${primary.name} is the primary, and fenced`,
    };
  const why = step.kind === "rest" ? "No instance accepts writes" : step.reason;
  return { type: "Available", status: "False", reason: "NoPrimary", message: why };
}

function degraded(seen: Seen): ConditionInit {
  if (isHibernated(seen)) return { type: "Degraded", status: "False", reason: "Hibernated", message: asleep };
  const unready = seen.instances.filter((each) => !isReady(each)).map(({ name }) => name);
  return unready.length === 0
    ? { type: "Degraded", status: "False", reason: "AllInstancesReady", message: "All instances are ready" }
    : { type: "Degraded", status: "True", reason: "InstancesNotReady", message: `${unready.join(", ")} not ready` };
}

function accepted({ refusals, instances }: Seen): ConditionInit {
  const errors = settingErrorsOf(instances);
  if (refusals.length > 0)
    return { type: "Accepted", status: "False", reason: "FieldsRefused", message: refusalText(refusals) };
  return errors.length > 0
    ? { type: "Accepted", status: "False", reason: "RefusedByPostgreSQL", message: errors.join("; ") }
    : { type: "Accepted", status: "True", reason: "Accepted", message: "All fields are accepted" };
}

function archived(seen: Seen): readonly ConditionInit[] {
  if (seen.cluster.spec.archive === undefined) return [];
  return [archivedCondition(archiveOf(seen), seen.storeRefusal)];
}
