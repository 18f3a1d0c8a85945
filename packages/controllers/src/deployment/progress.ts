/** The condition Progressing of a Deployment: how its rollout goes, and since when nothing moved; pure. */
import type { Deployment } from "@setpoint/api";
import type { ConditionInit } from "@setpoint/runtime";
import { isComplete, type DeploymentCondition, type DeploymentCounts } from "./deployment-status.ts";

/** How long a rollout may stand still before it is called timed out, when the Deployment does not say. */
const deadlineSecondsDefault = 600;
/** A deadline that upstream reads as none. */
const noDeadlineSeconds = 2_147_483_647;

export interface Rollout {
  readonly deployment: Deployment;
  readonly counts: DeploymentCounts;
  /** The ReplicaSet with the Deployment's template, while there is one. */
  readonly set: string | undefined;
  /** Whether this pass created it. */
  readonly isCreated: boolean;
  /** RFC 3339. */
  readonly now: string;
}

/** Undefined for a Deployment without a deadline. */
export function progressingCondition(rollout: Rollout): DeploymentCondition | undefined {
  const { deployment, counts, set, isCreated, now } = rollout;
  if (deadlineSeconds(deployment) === noDeadlineSeconds) return undefined;
  const before = pausedOrResumed(deployment, now);
  if (deployment.spec?.paused === true) return before;
  if (counts.replicas === counts.updatedReplicas && before?.reason === "NewReplicaSetAvailable") return before;
  const name = JSON.stringify(set ?? "");
  if (isComplete(deployment, counts))
    return changed(before, "True", "NewReplicaSetAvailable", `ReplicaSet ${name} has successfully progressed.`, now);
  if (isCreated) return changed(before, "True", "NewReplicaSetCreated", `Created new replica set ${name}`, now);
  if (hasProgressed(deployment, counts))
    return changed(before, "True", "ReplicaSetUpdated", `ReplicaSet ${name} is progressing.`, now);
  if (before === undefined) return changed(before, "True", "FoundNewReplicaSet", `Found new replica set ${name}`, now);
  return untilTimeoutMs(deployment, before, now) === 0
    ? changed(before, "False", "ProgressDeadlineExceeded", `ReplicaSet ${name} has timed out progressing.`, now)
    : before;
}

/** Milliseconds from the last progress to the deadline; undefined when none runs. */
export function untilTimeoutMs(
  deployment: Deployment,
  progressing: DeploymentCondition | undefined,
  now: string,
): number | undefined {
  const isOver = ["NewReplicaSetAvailable", "ProgressDeadlineExceeded"].includes(progressing?.reason ?? "");
  if (progressing?.lastUpdateTime === undefined || isOver || deployment.spec?.paused === true) return undefined;
  const deadlineMs = Date.parse(progressing.lastUpdateTime) + deadlineSeconds(deployment) * 1000;
  return Math.max(0, deadlineMs - Date.parse(now));
}

function deadlineSeconds({ spec }: Deployment): number {
  return spec?.progressDeadlineSeconds ?? deadlineSecondsDefault;
}

/** The time in a pause does not count: the deadline runs again from its end. */
function pausedOrResumed({ spec, status }: Deployment, now: string): DeploymentCondition | undefined {
  const before = status?.conditions?.find(({ type }) => type === "Progressing");
  if (before?.reason === "ProgressDeadlineExceeded") return before;
  const wasPaused = before?.reason === "DeploymentPaused";
  if (spec?.paused === true && !wasPaused)
    return changed(before, "Unknown", "DeploymentPaused", "Deployment is paused", now);
  if (spec?.paused !== true && wasPaused)
    return changed(before, "Unknown", "DeploymentResumed", "Deployment is resumed", now);
  return before;
}

/** More pods of the new template, fewer of the others, or more that are ready, than at the last report. */
function hasProgressed({ status }: Deployment, counts: DeploymentCounts): boolean {
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0, availableReplicas = 0 } = status ?? {};
  return (
    counts.updatedReplicas > updatedReplicas ||
    counts.replicas - counts.updatedReplicas < replicas - updatedReplicas ||
    counts.readyReplicas > readyReplicas ||
    counts.availableReplicas > availableReplicas
  );
}

function changed(
  before: DeploymentCondition | undefined,
  status: ConditionInit["status"],
  reason: string,
  message: string,
  now: string,
): DeploymentCondition {
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  return { type: "Progressing", status, reason, message, lastUpdateTime: now, lastTransitionTime };
}
