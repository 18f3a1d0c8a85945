import type { Deployment, ReplicaSet } from "@setpoint/api";
import type { ConditionInit } from "@setpoint/runtime";

const sum = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((total, set) => total + (count(set) ?? 0), 0);

/** The counters of a Deployment's status, from its ReplicaSets. */
export function deploymentCounts(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
): DeploymentCounts {
  const replicas = sum(sets, (set) => set.status?.replicas);
  const availableReplicas = sum(sets, (set) => set.status?.availableReplicas);
  const wanted = deployment.spec?.replicas ?? 1;
  return {
    replicas,
    updatedReplicas: current?.status?.replicas ?? 0,
    readyReplicas: sum(sets, (set) => set.status?.readyReplicas),
    availableReplicas,
    unavailableReplicas: Math.max(0, Math.max(wanted, replicas) - availableReplicas),
  };
}

export interface DeploymentCounts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly unavailableReplicas: number;
}

export function isComplete(deployment: Deployment, counts: DeploymentCounts): boolean {
  const wanted = deployment.spec?.replicas ?? 1;
  return counts.updatedReplicas === wanted && counts.replicas === wanted && counts.availableReplicas === wanted;
}

export function availableCondition(counts: DeploymentCounts, minAvailable: number): ConditionInit {
  return counts.availableReplicas >= minAvailable
    ? {
        type: "Available",
        status: "True",
        reason: "MinimumReplicasAvailable",
        message: "Deployment has minimum availability.",
      }
    : {
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
}

export function progressingCondition(
  deployment: Deployment,
  counts: DeploymentCounts,
  set: string,
  timedOut: boolean,
): ConditionInit {
  if (deployment.spec?.paused === true)
    return { type: "Progressing", status: "Unknown", reason: "DeploymentPaused", message: "Deployment is paused" };
  if (isComplete(deployment, counts))
    return {
      type: "Progressing",
      status: "True",
      reason: "NewReplicaSetAvailable",
      message: `ReplicaSet "${set}" has successfully progressed.`,
    };
  if (timedOut)
    return {
      type: "Progressing",
      status: "False",
      reason: "ProgressDeadlineExceeded",
      message: `ReplicaSet "${set}" has timed out progressing.`,
    };
  return {
    type: "Progressing",
    status: "True",
    reason: "ReplicaSetUpdated",
    message: `ReplicaSet "${set}" is progressing.`,
  };
}

type DeploymentCondition = NonNullable<NonNullable<Deployment["status"]>["conditions"]>[number];

/**
 * Conditions of apps/v1, which have two times and no generation: they change only with status, reason or
 * message.
 */
export function deploymentConditions(
  present: readonly DeploymentCondition[],
  wanted: readonly ConditionInit[],
  now: string,
): readonly DeploymentCondition[] {
  return wanted.map((condition) => {
    const before = present.find((each) => each.type === condition.type);
    const isSame =
      before?.status === condition.status && before.reason === condition.reason && before.message === condition.message;
    if (isSame) return before;
    const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? now) : now;
    return { ...condition, lastUpdateTime: now, lastTransitionTime };
  });
}
