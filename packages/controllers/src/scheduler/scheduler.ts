import { Node, Pod } from "@setpoint/api";
import { apiVersionOf } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import type { Stored } from "@setpoint/client";
import {
  controller,
  requeueAfter,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { isFinished } from "../pod-state.ts";
import { type AssumedBindings, forgetSeen } from "./assumed-bindings.ts";
import { misfit } from "./fits-node.ts";

export const schedulerName = "default-scheduler";
/** An unschedulable pod is tried again after this time, even if no node has changed. */
const retryMs = 30_000;

/** Options of the scheduler. */
export interface SchedulerOptions {
  /**
   * `false`: no Events say where a pod went, or why nowhere; its condition does in any case. Default: `true`.
   */
  readonly events?: boolean;
}

/**
 * Binds each pod that names this scheduler and no node yet to the fitting node with the fewest pods. What it
 * has bound and the caches do not show yet is its own to remember: each manager has a scheduler of its own.
 */
export function scheduler({ events = true }: SchedulerOptions = {}): ControllerDefinition {
  const assumed: AssumedBindings = new Map();
  return controller(Pod, {
    name: "scheduler",
    watches: [
      { of: Node, wakes: (_node, cache) => cache.list(Pod, { allNamespaces: true }).filter(isPending).map(nameOf) },
    ],
    async reconcile(pod, context) {
      if (!isPending(pod)) return;
      const pods = context.list(Pod, { allNamespaces: true });
      forgetSeen(assumed, pods);
      const counts = podsByNode(pods, assumed);
      const verdicts = context
        .list(Node)
        .map((node) => ({ node, why: misfit(pod, node, counts.get(node.metadata.name ?? "") ?? 0) }));
      const fitting = verdicts.filter(({ why }) => why === undefined).map(({ node }) => node.metadata.name ?? "");
      fitting.sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0) || (a < b ? -1 : 1));
      const [best] = fitting;
      if (best === undefined) {
        const reasons = verdicts.flatMap(({ why }) => why ?? []);
        return refuse(pod, reasons, context, events);
      }
      await bind(pod, best, assumed, context);
      if (!events) return;
      const { name, namespace = "" } = pod.metadata;
      context.event("Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${best}`);
    },
  });
}

function nameOf({ metadata }: Stored<Pod>): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

function isPending(pod: Stored<Pod>): boolean {
  const { nodeName, schedulerName: wanted, schedulingGates = [] } = pod.spec ?? {};
  if (pod.metadata.deletionTimestamp !== undefined || isFinished(pod)) return false;
  return (nodeName ?? "") === "" && wanted === schedulerName && schedulingGates.length === 0;
}

function podsByNode(pods: readonly Pod[], assumed: AssumedBindings): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const node = pod.spec?.nodeName ?? assumed.get(pod.metadata.uid ?? "") ?? "";
    if (node !== "" && !isFinished(pod)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}

async function bind(
  pod: Stored<Pod>,
  node: string,
  assumed: AssumedBindings,
  context: ReconcileContext,
): Promise<void> {
  const { name, namespace = "", uid } = pod.metadata;
  const body = {
    apiVersion: apiVersionOf({ group: "", version: "v1" }),
    kind: "Binding",
    metadata: { name, namespace, uid },
    target: { apiVersion: "v1", kind: "Node", name: node },
  };
  // Before the request: other pods are placed while it is under way.
  assumed.set(uid, node);
  try {
    await context.client.request({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
      body,
    });
  } catch (error) {
    assumed.delete(uid);
    throw error;
  }
}

/**
 * Says on the pod why no node took it:
 * `0/2 nodes are available: 1 node(s) were unschedulable, 1 Too many pods.`
 */
async function refuse(
  pod: Stored<Pod>,
  reasons: readonly string[],
  context: ReconcileContext,
  events: boolean,
): Promise<Result> {
  const counted = [...new Set(reasons)].map(
    (reason) => `${reasons.filter((each) => each === reason).length} ${reason}`,
  );
  const message =
    reasons.length === 0
      ? "no nodes available to schedule pods"
      : `0/${reasons.length} nodes are available: ${counted.join(", ")}.`;
  const present = pod.status?.conditions?.find((each) => each.type === "PodScheduled");
  if (present?.message !== message) {
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message,
      lastTransitionTime: timestamp(context.host.clock),
    };
    const options = { subresource: "status", type: "strategic" as const, signal: context.signal };
    await context.client.patch(
      Pod,
      { name: pod.metadata.name ?? "", namespace: pod.metadata.namespace ?? "" },
      { status: { conditions: [condition] } },
      options,
    );
    if (events) context.event("Warning", "FailedScheduling", message);
  }
  return requeueAfter(retryMs, message);
}
