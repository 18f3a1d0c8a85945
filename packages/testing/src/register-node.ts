import { Node } from "@setpoint/api";
import type { Client } from "@setpoint/client";

/** What a kubelet says of itself at its start: a node with room for pods, ready for them. */
export async function registerNode(client: Client, name: string): Promise<void> {
  await client.create(Node, Node({ name, labels: { "kubernetes.io/hostname": name } }));
  const resources = { cpu: "8", memory: "16Gi", pods: "110" };
  const status = {
    conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "simulated" }],
    allocatable: resources,
    capacity: resources,
  };
  await client.patch(Node, { name }, { status }, { subresource: "status" });
  // Admission taints every new node until it is ready.
  await client.patch(Node, { name }, { spec: { taints: null } });
}
