/** What node agents need of the cluster: a role beyond the kubelet's, because they also proxy Services and make volumes. */
import { ClusterRole, ClusterRoleBinding, StorageClass } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import type { Host } from "@setpoint/host";

/** The group of agents' certificates beside `system:nodes`. */
export const nodeAgentsGroup = "setpoint:node-agents";
const name = "setpoint:node-agent";
const fieldManager = "setpoint";

const read = ["get", "list", "watch"];
const rules = [
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: read },
  { apiGroups: [""], resources: ["services"], verbs: read },
  { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: read },
  { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...read, "create", "patch", "delete"] },
  { apiGroups: [""], resources: ["persistentvolumes/status", "persistentvolumeclaims/status"], verbs: ["patch"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: [...read, "patch"] },
];

/** Applies the agents' role and the default StorageClass, whose volumes are folders of a node. */
export async function prepareForNodes(transport: Transport, host: Host): Promise<void> {
  const client = createClient(transport, host);
  const options = { fieldManager, force: true };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: nodeAgentsGroup }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  const storageClass = StorageClass({
    name: "folder",
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
    provisioner: "setpoint.dev/folder",
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  await Promise.all([
    client.apply(ClusterRole, ClusterRole({ name, rules }), options),
    client.apply(ClusterRoleBinding, ClusterRoleBinding({ name, roleRef, subjects }), options),
    client.apply(StorageClass, storageClass, options),
  ]);
}
