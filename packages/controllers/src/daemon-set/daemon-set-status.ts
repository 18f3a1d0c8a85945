import type { DaemonSetStatus } from "@setpoint/api";
import type { Seen, SeenNode, SeenPod } from "./seen.ts";

/** The status, from what was seen before this pass changed anything. The oldest pod of a node counts. */
export function daemonSetStatus({ set, nodes }: Seen, collisionCount: number): Omit<DaemonSetStatus, "conditions"> {
  const wanted = nodes.filter(({ shouldRun }) => shouldRun);
  const having = (matches: (pod: SeenPod) => boolean): number =>
    wanted.filter(({ pods }) => pods[0] !== undefined && matches(pods[0])).length;
  const available = having((pod) => pod.ready && pod.untilAvailableMs === 0);
  const hasPods = ({ pods }: SeenNode): boolean => pods.length > 0;
  return {
    observedGeneration: set.metadata.generation ?? 0,
    currentNumberScheduled: wanted.filter(hasPods).length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: nodes.filter((node) => !node.shouldRun && hasPods(node)).length,
    numberReady: having((pod) => pod.ready),
    updatedNumberScheduled: having((pod) => pod.updated),
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
    ...(collisionCount === 0 ? {} : { collisionCount }),
  };
}
