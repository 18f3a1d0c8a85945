import { Pod } from "@setpoint/api";
import { isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { NodeEvents } from "../cluster/node-events.ts";
import { podIdentity } from "../cluster/pod.ts";
import type { PodReports } from "../workers/pod-parts.ts";

/**
 * Reports the state of pods to the API server. Each write names the pod's UID, so it never reaches a pod of
 * the same name.
 */
export function createPodReports(client: Client, events: NodeEvents): PodReports {
  return {
    async writeStatus(pod, status) {
      const { namespace, name, uid } = podIdentity(pod);
      await ignoreGone(
        client.patch(Pod, { namespace, name }, { metadata: { uid }, status }, { subresource: "status" }),
      );
    },
    async removePod(pod) {
      const { namespace, name, uid } = podIdentity(pod);
      await ignoreGone(client.delete(Pod, { namespace, name }, { preconditions: { uid }, gracePeriodSeconds: 0 }));
    },
    event(pod, type, reason, message, container) {
      events.record(pod, type, reason, message, container === undefined ? undefined : fieldPathOf(pod, container));
    },
  };
}

function fieldPathOf({ spec }: Pod, container: string): string {
  const lists = ["initContainers", "ephemeralContainers"] as const;
  const list = lists.find((each) => spec[each]?.some(({ name }) => name === container) === true) ?? "containers";
  return `spec.${list}{${container}}`;
}

/** Not found: the pod was deleted. Conflict: another pod has its name. */
async function ignoreGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
