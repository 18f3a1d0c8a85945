/** How long a pod stays on a node with NoExecute taints; pure. */
import type { Pod } from "@setpoint/api";
import { isTolerated, type Taint } from "../scheduler/filters/taints.ts";

/** A taint, and since when the node has it. */
export interface SeenTaint {
  readonly taint: Taint;
  readonly sinceMs: number;
}

/**
 * Milliseconds until the taints of its node end the pod, 0 when they do now; undefined when they never do.
 * Of several tolerations of a taint the shortest counts. A pod that was bound after the taint came has its
 * time from then.
 */
export function untilEvictionMs(pod: Pod, taints: readonly SeenTaint[], nowMs: number): number | undefined {
  const waits = taints
    .filter(({ taint }) => taint.effect === "NoExecute")
    .map(({ taint, sinceMs }) => {
      const tolerations = (pod.spec?.tolerations ?? []).filter((each) => isTolerated(taint, [each]));
      if (tolerations.length === 0) return 0;
      const seconds = Math.min(...tolerations.map(({ tolerationSeconds = Infinity }) => Number(tolerationSeconds)));
      return Math.max(0, Math.max(sinceMs, boundMs(pod)) + Math.max(0, seconds) * 1_000 - nowMs);
    });
  const shortest = Math.min(...waits);
  return Number.isFinite(shortest) ? shortest : undefined;
}

function boundMs({ metadata, status }: Pod): number {
  const bound = status?.conditions?.find(({ type, status: is }) => type === "PodScheduled" && is === "True");
  return Date.parse(bound?.lastTransitionTime ?? metadata.creationTimestamp ?? "1970-01-01T00:00:00Z");
}
