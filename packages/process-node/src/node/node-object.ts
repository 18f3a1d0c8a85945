/** The Node object, its status and its lease: pure builders. */
import { Lease, Node, type NodeCondition, type NodeStatus } from "@setpoint/api";
import type { HostFacts } from "../host/host-facts.ts";

export interface NodeFacts extends HostFacts {
  readonly name: string;
  readonly address: string;
  readonly kubeletPort: number;
  readonly podCidr: string;
  readonly runtimeVersion: string;
  readonly kubeletVersion: string;
}

export interface NodeHealth {
  readonly ready: boolean;
  readonly message: string;
  readonly hasDiskPressure?: boolean;
}

/** What a kubelet's default eviction thresholds keep from pods. */
const memoryReservedBytes = 100 * 1024 * 1024;
const diskShareForPods = 0.9;

/** Pods that a node takes at most: as many as a kubelet's default. */
export const podsMax = 110;

export function buildNode(facts: NodeFacts): Node {
  return Node({
    name: facts.name,
    labels: nodeLabels(facts),
    spec: { podCIDR: facts.podCidr, podCIDRs: [facts.podCidr] },
  });
}

export function nodeLabels({ name, architecture }: NodeFacts): Record<string, string> {
  return {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": architecture,
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": architecture,
  };
}

export function nodeStatus(
  facts: NodeFacts,
  health: NodeHealth,
  before: readonly NodeCondition[],
  now: string,
): NodeStatus {
  const capacity = {
    cpu: String(facts.cpus),
    memory: `${Math.floor(facts.memoryBytes / 1024)}Ki`,
    pods: String(podsMax),
    "ephemeral-storage": `${Math.floor(facts.diskBytes / 1024)}Ki`,
  };
  return {
    capacity,
    allocatable: {
      ...capacity,
      memory: `${Math.floor((facts.memoryBytes - memoryReservedBytes) / 1024)}Ki`,
      "ephemeral-storage": String(Math.floor(facts.diskBytes * diskShareForPods)),
    },
    conditions: nodeConditions(health, before, now),
    addresses: [
      { type: "InternalIP", address: facts.address },
      { type: "Hostname", address: facts.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: facts.kubeletPort } },
    nodeInfo: {
      machineID: facts.machineId,
      systemUUID: facts.machineId,
      bootID: facts.bootId,
      kernelVersion: facts.kernelVersion,
      osImage: facts.osImage,
      operatingSystem: "linux",
      architecture: facts.architecture,
      containerRuntimeVersion: facts.runtimeVersion,
      kubeletVersion: facts.kubeletVersion,
      kubeProxyVersion: "",
    },
  };
}

function nodeConditions(health: NodeHealth, before: readonly NodeCondition[], now: string): NodeCondition[] {
  const wanted = [
    withoutPressure("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    diskCondition(health.hasDiskPressure === true),
    withoutPressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    {
      type: "Ready",
      status: health.ready ? "True" : "False",
      reason: health.ready ? "KubeletReady" : "KubeletNotReady",
      message: health.message,
    },
  ];
  return wanted.map((condition) => {
    const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
    return { ...condition, lastHeartbeatTime: now, lastTransitionTime: same?.lastTransitionTime ?? now };
  });
}

type WantedCondition = Pick<NodeCondition, "type" | "status" | "reason" | "message">;

function withoutPressure(type: string, reason: string, message: string): WantedCondition {
  return { type, status: "False", reason, message };
}

function diskCondition(hasPressure: boolean): WantedCondition {
  return hasPressure
    ? { type: "DiskPressure", status: "True", reason: "KubeletHasDiskPressure", message: "kubelet has disk pressure" }
    : withoutPressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure");
}

export const leaseDurationSeconds = 40;
export const leaseNamespace = "kube-node-lease";

export function buildLease(nodeName: string, nodeUid: string, renewTime: string): Lease {
  return Lease({
    name: nodeName,
    namespace: leaseNamespace,
    ownerReferences: [{ apiVersion: "v1", kind: "Node", name: nodeName, uid: nodeUid }],
    spec: { holderIdentity: nodeName, leaseDurationSeconds, renewTime },
  });
}
