import { Node, Pod } from "@setpoint/api";
import { isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { timestamp } from "@setpoint/host";
import { controller, watching, type ControllerDefinition, type ReconcileContext, type Result } from "@setpoint/runtime";
import { isActive } from "../pod-state.ts";
import type { Taint } from "../scheduler/filters/taints.ts";
import { taintTimes, type TaintTimes } from "./taint-times.ts";
import { untilEvictionMs } from "./until-eviction.ts";

/** Ends pods that do not tolerate a NoExecute taint of their node, or have tolerated it for long enough. */
export function taintEvictions(): ControllerDefinition {
  const times = taintTimes();
  return controller(Node, {
    name: "tainteviction",
    // A Node has no generation: each heartbeat would count.
    predicate: (old, next) => JSON.stringify(noExecute(old)) !== JSON.stringify(noExecute(next)),
    watches: [
      watching(Pod, (pod, cache) => {
        const node = cache.get(Node, pod.spec?.nodeName ?? "");
        return node === undefined || noExecute(node).length === 0 ? [] : [{ name: node.metadata.name }];
      }),
    ],
    reconcile: (node, context) => evictPods(node, times, context),
  });
}

function noExecute({ spec }: Node): readonly Taint[] {
  return (spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

async function evictPods(node: Stored<Node>, times: TaintTimes, context: ReconcileContext): Promise<Result | void> {
  const { clock } = context.host;
  const taints = times.see(node.metadata.uid, noExecute(node), clock);
  const nowMs = times.nowMs(clock);
  if (taints.length === 0) return;
  const pods = context.list(Pod, { allNamespaces: true }).filter((pod) => pod.spec?.nodeName === node.metadata.name);
  const waits: number[] = [];
  for (const pod of pods.filter(isActive)) {
    const waitMs = untilEvictionMs(pod, taints, nowMs);
    if (waitMs === 0) await evict(pod, context);
    else if (waitMs !== undefined) waits.push(waitMs);
  }
  if (waits.length > 0)
    return context.requeueAfter(Math.min(...waits), "a pod tolerates a taint of its node until then");
}

async function evict(pod: Stored<Pod>, context: ReconcileContext): Promise<void> {
  const { namespace = "", name, uid } = pod.metadata;
  const key = { namespace, name };
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByTaintManager",
    message: "Taint manager: deleting due to NoExecute taint",
    lastTransitionTime: timestamp(context.host.clock),
  };
  const patch = { metadata: { uid }, status: { conditions: [condition] } };
  context.event("Normal", "TaintManagerEviction", `Marking for deletion Pod ${namespace}/${name}`, pod);
  await unlessGone(context.client.patch(Pod, key, patch, { subresource: "status", type: "strategic" }));
  await unlessGone(context.client.delete(Pod, key, { preconditions: { uid } }));
}

/** Another pod may have taken the name meanwhile, or none is there any more. */
async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
