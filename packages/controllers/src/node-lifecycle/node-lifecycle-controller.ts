import { Lease, Node } from "@setpoint/api";
import { timestamp } from "@setpoint/host";
import type { Stored } from "@setpoint/client";
import { controller, watching, type ControllerDefinition, type ReconcileContext } from "@setpoint/runtime";

const leaseNamespace = "kube-node-lease";
/** A node that has not renewed its lease for so long is not heard of any more (upstream: node-monitor-grace-period). */
const silenceMsMax = 50_000;

const notReady = "node.kubernetes.io/not-ready";
const unreachable = "node.kubernetes.io/unreachable";

/** Marks nodes that are not ready or not heard of with taints, and takes the taints off again. */
export const nodeLifecycle: ControllerDefinition = controller(Node, {
  name: "nodelifecycle",
  // Readiness is status.
  predicate: () => true,
  watches: [
    watching(Lease, (lease) => (lease.metadata.namespace === leaseNamespace ? [{ name: lease.metadata.name }] : [])),
  ],
  async reconcile(node, context) {
    const silentForMs = silenceOf(node, context);
    const ready = node.status?.conditions?.find((each) => each.type === "Ready");
    const isSilent = silentForMs > silenceMsMax;
    if (isSilent && ready !== undefined && ready.status !== "Unknown") await reportSilence(node, context);
    await ensureTaint(node, isSilent ? unreachable : ready?.status === "True" ? undefined : notReady, context);
    if (isSilent) return context.awaitChange();
    return context.requeueAfter(silenceMsMax - silentForMs + 1_000, "see whether the node still renews its lease");
  },
});

/** Milliseconds since the node's last sign of life: its lease, its heartbeat, or its creation. */
function silenceOf(node: Stored<Node>, context: ReconcileContext): number {
  const lease = context.get(Lease, node.metadata.name, leaseNamespace);
  const ready = node.status?.conditions?.find((each) => each.type === "Ready");
  const signs = [lease?.spec?.renewTime, ready?.lastHeartbeatTime, node.metadata.creationTimestamp];
  const last = Math.max(...signs.map((sign) => Date.parse(sign ?? "1970-01-01T00:00:00Z")));
  return context.clock.now() - last;
}

async function reportSilence(node: Stored<Node>, context: ReconcileContext): Promise<void> {
  const condition = {
    type: "Ready",
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
    lastTransitionTime: timestamp(context.clock),
  };
  // A node that has just come back must not be overwritten.
  const metadata = { resourceVersion: node.metadata.resourceVersion };
  await context.client.patch(
    Node,
    { name: node.metadata.name },
    { metadata, status: { conditions: [condition] } },
    { subresource: "status", type: "strategic" },
  );
  context.event("Normal", "NodeNotReady", `Node ${node.metadata.name} status is now: NodeNotReady`);
}

/** Of the two taints of this controller exactly `wanted` stays; taints of others are kept. */
async function ensureTaint(node: Stored<Node>, wanted: string | undefined, context: ReconcileContext): Promise<void> {
  const taints = node.spec?.taints ?? [];
  const kept = taints.filter(({ key }) => key !== notReady && key !== unreachable);
  const own = wanted === undefined ? [] : [{ key: wanted, effect: "NoSchedule" as const }];
  const present = taints.filter(({ key }) => key === notReady || key === unreachable).map(({ key }) => key);
  if (present.join() === own.map(({ key }) => key).join()) return;
  await context.patch(node, { spec: { taints: [...kept, ...own] } }, { unchanged: true });
}
