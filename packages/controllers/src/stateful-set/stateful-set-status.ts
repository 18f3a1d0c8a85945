import type { StatefulSet, StatefulSetStatus } from "@setpoint/api";
import type { Seen, SeenPod } from "./seen.ts";

/**
 * The status, from what was seen before this pass changed anything. A rollout has ended when all pods run the
 * present template and are ready: then it becomes the current one.
 */
export function statefulSetStatus(seen: Seen, collisionCount: number): Omit<StatefulSetStatus, "conditions"> {
  const { set, pods, updateRevision } = seen;
  const running = (revision: string): number => count(pods, (pod) => !pod.terminating && pod.revision === revision);
  const status = {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    readyReplicas: count(pods, (pod) => pod.ready),
    availableReplicas: count(pods, (pod) => pod.ready && pod.untilAvailableMs === 0),
    currentReplicas: running(seen.currentRevision),
    updatedReplicas: running(updateRevision),
    currentRevision: seen.currentRevision,
    updateRevision,
    collisionCount,
  };
  if (!hasRolledOut(set, status)) return status;
  return { ...status, currentReplicas: status.updatedReplicas, currentRevision: updateRevision };
}

function hasRolledOut(
  { spec }: StatefulSet,
  {
    updatedReplicas,
    readyReplicas,
    replicas,
  }: Required<Pick<StatefulSetStatus, "updatedReplicas" | "readyReplicas" | "replicas">>,
): boolean {
  const isRolling = spec?.updateStrategy?.type !== "OnDelete";
  return isRolling && updatedReplicas === replicas && readyReplicas === replicas;
}

function count(pods: readonly SeenPod[], matches: (pod: SeenPod) => boolean): number {
  return pods.filter(matches).length;
}
