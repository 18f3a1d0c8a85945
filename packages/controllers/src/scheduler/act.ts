/** The writes of the scheduler. */
import { Pod } from "@setpoint/api";
import { apiVersionOf, isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { timestamp } from "@setpoint/host";
import { keyOf, type ReconcileContext } from "@setpoint/runtime";
import { schedulerName } from "./wake-ups.ts";

/** Binds the pod to the node. */
export async function bind(pod: Stored<Pod>, node: string, context: ReconcileContext): Promise<void> {
  const { name, namespace = "", uid } = pod.metadata;
  const body = {
    apiVersion: apiVersionOf({ group: "", version: "v1" }),
    kind: "Binding",
    metadata: { name, namespace, uid },
    target: { apiVersion: "v1", kind: "Node", name: node },
  };
  await context.client.request({ method: "POST", path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`, body });
}

/** Reports why no node took the pod, and where it runs when its victims have ended. */
export async function reportRefusal(
  pod: Stored<Pod>,
  message: string,
  nominatedNodeName: string,
  context: ReconcileContext,
): Promise<boolean> {
  const present = pod.status?.conditions?.find((each) => each.type === "PodScheduled");
  const isSameNode = (pod.status?.nominatedNodeName ?? "") === nominatedNodeName;
  if (present?.message === message && isSameNode) return false;
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  const nominated = isSameNode ? {} : { nominatedNodeName: nominatedNodeName === "" ? null : nominatedNodeName };
  await patchStatus(
    pod,
    { conditions: [{ ...condition, lastTransitionTime: timestamp(context.host.clock) }], ...nominated },
    context,
  );
  return present?.message !== message;
}

/** Ends a pod for the sake of one of higher priority. */
export async function preempt(
  victim: Stored<Pod>,
  pod: Stored<Pod>,
  node: string,
  context: ReconcileContext,
): Promise<void> {
  if (victim.metadata.deletionTimestamp !== undefined) return;
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "PreemptionByScheduler",
    message: `${schedulerName}: preempting to accommodate a higher priority pod`,
    lastTransitionTime: timestamp(context.host.clock),
  };
  try {
    await patchStatus(victim, { conditions: [condition] }, context);
    await context.client.delete(Pod, keyOf(victim), { preconditions: { uid: victim.metadata.uid } });
  } catch (error) {
    // It has ended already, or another pod has its name.
    if (isNotFound(error) || isConflict(error)) return;
    throw error;
  }
  context.event("Normal", "Preempted", `Preempted by pod ${pod.metadata.uid} on node ${node}`, victim);
}

async function patchStatus(pod: Stored<Pod>, status: object, context: ReconcileContext): Promise<void> {
  const options = { subresource: "status", type: "strategic" as const, signal: context.signal };
  await context.client.patch(Pod, keyOf(pod), { metadata: { uid: pod.metadata.uid }, status }, options);
}
