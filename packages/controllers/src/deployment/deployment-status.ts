import type { Deployment, ReplicaSet } from "@setpoint/api";
import type { ConditionInit } from "@setpoint/runtime";

/** A condition of apps/v1, which has two times and no generation. */
export type DeploymentCondition = NonNullable<NonNullable<Deployment["status"]>["conditions"]>[number];

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
    terminatingReplicas: sum(sets, (set) => set.status?.terminatingReplicas),
  };
}

export interface DeploymentCounts {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly unavailableReplicas: number;
  readonly terminatingReplicas: number;
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

/** What keeps a ReplicaSet from its pods, of the current one first; undefined when nothing does. */
export function failureCondition(
  sets: readonly ReplicaSet[],
  current: ReplicaSet | undefined,
): ConditionInit | undefined {
  const failures = [...(current === undefined ? [] : [current]), ...sets].flatMap(({ status }) =>
    (status?.conditions ?? []).filter(({ type }) => type === "ReplicaFailure"),
  );
  const [first] = failures;
  if (first === undefined) return undefined;
  const { reason = "", message = "" } = first;
  return { type: "ReplicaFailure", status: first.status as ConditionInit["status"], reason, message };
}

/** With its times: they change only with the status or the reason. */
export function timedCondition(deployment: Deployment, wanted: ConditionInit, now: string): DeploymentCondition {
  const before = deployment.status?.conditions?.find(({ type }) => type === wanted.type);
  if (before?.status === wanted.status && before.reason === wanted.reason) return before;
  const lastTransitionTime = before?.status === wanted.status ? (before.lastTransitionTime ?? now) : now;
  return { ...wanted, lastUpdateTime: now, lastTransitionTime };
}
