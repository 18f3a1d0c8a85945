/** What controllers ask of pods. */
import type { Pod } from "@setpoint/api";

/** Neither finished nor on its way out. */
export function isActive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isFinished(pod);
}

export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

export function isReady(pod: Pod): boolean {
  return readySince(pod) !== undefined;
}

/** When the pod became ready (RFC 3339); undefined when it is not. */
export function readySince(pod: Pod): string | undefined {
  const condition = pod.status?.conditions?.find((each) => each.type === "Ready");
  return condition?.status === "True" ? (condition.lastTransitionTime ?? "") : undefined;
}

/** Milliseconds until a ready pod counts as available; 0 when it does, undefined when it is not ready. */
export function untilAvailableMs(pod: Pod, minReadySeconds: number, nowMs: number): number | undefined {
  const since = readySince(pod);
  if (since === undefined) return undefined;
  if (minReadySeconds === 0 || since === "") return 0;
  return Math.max(0, Date.parse(since) + minReadySeconds * 1000 - nowMs);
}
