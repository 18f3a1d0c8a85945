import { Lease, Node, Pod } from "@setpoint/api";
import { isConflict, isNotFound } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import type { Stored } from "@setpoint/client";
import { controller, watching, type ControllerDefinition, type ReconcileContext, type Result } from "@setpoint/runtime";
import { isReady } from "../pod-state.ts";
import { type HeartbeatTimes, heartbeatTimes } from "./heartbeat-times.ts";
import { isSame, readyStatus, unknownConditions, wantedTaints } from "./node-verdict.ts";

const leaseNamespace = "kube-node-lease";
/**
 * A node that has not renewed its lease for so long is not heard of any more (upstream:
 * node-monitor-grace-period).
 */
const silenceMsMax = 50_000;
/** Pods of a node that is not ready are looked at this often. */
const unreadyLookMs = 5_000;

/**
 * Says of nodes that are not heard of that nothing is known of them, keeps pods away from nodes by taints,
 * and marks pods of nodes that are not ready. `taintEvictions` deletes those that do not tolerate that.
 */
export function nodeLifecycle(): ControllerDefinition {
  const times = heartbeatTimes();
  return controller(Node, {
    name: "nodelifecycle",
    eventSource: "node-controller",
    // Readiness is status.
    predicate: () => true,
    watches: [
      watching(Lease, (lease) => (lease.metadata.namespace === leaseNamespace ? [{ name: lease.metadata.name }] : [])),
      // Looked at from time to time: a change of a pod says nothing about its node.
      watching(Pod, () => []),
    ],
    reconcile: (node, context) => watchOver(node, times, context),
  });
}

async function watchOver(node: Stored<Node>, times: HeartbeatTimes, context: ReconcileContext): Promise<Result> {
  const lease = context.get(Lease, node.metadata.name, leaseNamespace);
  const silentForMs = times.silenceMs(node, lease, context.host.clock.monotonic());
  if (silentForMs > silenceMsMax && (await reportSilence(node, times, context))) return context.awaitChange();
  if (await ensureTaints(node, context)) return context.awaitChange();
  times.keep(context.list(Node).map(({ metadata }) => metadata.name));
  const ready = readyStatus(node);
  // A node that says itself that it is not ready speaks for its pods, too.
  if (ready === "Unknown") await markPods(node, context);
  if (ready !== "True")
    return context.requeueAfter(unreadyLookMs, "see whether a pod of it still says that it is ready");
  const untilSilentMs = Math.max(0, silenceMsMax - silentForMs);
  return context.requeueAfter(untilSilentMs + 1_000, "see whether the node still renews its lease");
}

/** False when the Node already has these conditions, or the server has heard of the node. */
async function reportSilence(node: Stored<Node>, times: HeartbeatTimes, context: ReconcileContext): Promise<boolean> {
  const conditions = unknownConditions(node, timestamp(context.host.clock));
  if (conditions.length === 0) return false;
  // It may be the watch that is silent, or this process was paused.
  const lease = await context.fresh(Lease, node.metadata.name, leaseNamespace);
  if (times.silenceMs(node, lease, context.host.clock.monotonic()) <= silenceMsMax) return false;
  // A node that has just come back must not be overwritten.
  const metadata = { resourceVersion: node.metadata.resourceVersion };
  await context.client.patch(
    Node,
    { name: node.metadata.name },
    { metadata, status: { conditions } },
    { subresource: "status", type: "strategic" },
  );
  context.event("Normal", "NodeNotReady", `Node ${node.metadata.name} status is now: NodeNotReady`);
  return true;
}

/** Taints of others are kept. False when the node has all taints that it is to have, and no other. */
async function ensureTaints(node: Stored<Node>, context: ReconcileContext): Promise<boolean> {
  const present = node.spec?.taints ?? [];
  const isFullDisruption = context.list(Node).every((each) => readyStatus(each) !== "True");
  const wanted = wantedTaints(node, isFullDisruption, timestamp(context.host.clock));
  const isThere =
    present.length === wanted.length && wanted.every((taint) => present.some((each) => isSame(each, taint)));
  if (isThere) return false;
  await context.patch(node, { spec: { taints: wanted } }, { unchanged: true });
  return true;
}

function podsOf(node: Stored<Node>, context: ReconcileContext): readonly Stored<Pod>[] {
  return context.list(Pod, { allNamespaces: true }).filter((pod) => pod.spec?.nodeName === node.metadata.name);
}

/** What a node last said of its pods is true no longer when the node says nothing. */
async function markPods(node: Stored<Node>, context: ReconcileContext): Promise<void> {
  const now = timestamp(context.host.clock);
  const condition = { type: "Ready", status: "False", lastTransitionTime: now };
  for (const pod of podsOf(node, context).filter((each) => isReady(each)))
    await patchStatus(pod, { conditions: [condition] }, context);
}

function patchStatus(pod: Stored<Pod>, status: object, context: ReconcileContext): Promise<void> {
  const metadata = { uid: pod.metadata.uid };
  const options = { subresource: "status", type: "strategic" } as const;
  return unlessGone(context.client.patch(Pod, keyOf(pod), { metadata, status }, options));
}

function keyOf({ metadata }: Stored<Pod>): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? "", name: metadata.name };
}

/** Another pod may have taken the name meanwhile, or none is there any more. */
async function unlessGone(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
