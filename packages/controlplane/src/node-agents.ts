/**
 * What node agents need of the cluster: a role beyond the kubelet's, because they also proxy Services and
 * make volumes.
 */
import { ClusterRole, ClusterRoleBinding, StorageClass } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import type { Host } from "@setpoint/host";

/** The group of agents' certificates beside `system:nodes`. */
export const nodeAgentsGroup = "setpoint:node-agents";
/**
 * The group of the certificates with which nodes read what they need to route and to enforce NetworkPolicies.
 */
export const nodeNetworksGroup = "setpoint:node-networks";
/** As whom the API server calls node agents; RBAC grants it the agents' API and nothing else. */
export const kubeletClientUser = "kube-apiserver-kubelet-client";
const name = "setpoint:node-agent";
const networkName = "setpoint:node-network";
const kubeletAdmin = "kube-apiserver-kubelet-admin";
const apiGroup = "rbac.authorization.k8s.io";
const fieldManager = "setpoint";

/**
 * Beside what the node authorizer lets every agent do. It also lets those of this group bind the claims of
 * their pods, and admission holds what they write to volumes of their own node.
 */
const rules = [
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
  { apiGroups: ["storage.k8s.io"], resources: ["storageclasses"], verbs: ["get"] },
  { apiGroups: [""], resources: ["persistentvolumes"], verbs: ["list", "create", "patch", "delete"] },
  { apiGroups: [""], resources: ["persistentvolumes/status"], verbs: ["patch"] },
];

const networkRules = [
  { apiGroups: [""], resources: ["pods", "namespaces"], verbs: ["list", "watch"] },
  { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["list", "watch"] },
];

/**
 * Applies the agents' role, the API server's right to call them, and the default StorageClass, whose volumes
 * are folders of a node.
 */
export async function prepareForNodes(transport: Transport, host: Host): Promise<void> {
  const client = createClient(transport, host);
  const options = { fieldManager, force: true };
  const subjects = [{ apiGroup, kind: "Group", name: nodeAgentsGroup }];
  const roleRef = { apiGroup, kind: "ClusterRole", name };
  const kubeletBinding = ClusterRoleBinding({
    name: kubeletAdmin,
    roleRef: { apiGroup, kind: "ClusterRole", name: "system:kubelet-api-admin" },
    subjects: [{ apiGroup, kind: "User", name: kubeletClientUser }],
  });
  const networkBinding = ClusterRoleBinding({
    name: networkName,
    roleRef: { apiGroup, kind: "ClusterRole", name: networkName },
    subjects: [{ apiGroup, kind: "Group", name: nodeNetworksGroup }],
  });
  // As metrics-server's manifests: users who may view a namespace may view what its pods use.
  const metricsReader = ClusterRole({
    name: "system:aggregated-metrics-reader",
    labels: Object.fromEntries(
      ["admin", "edit", "view"].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, "true"]),
    ),
    rules: [{ apiGroups: ["metrics.k8s.io"], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] }],
  });
  const storageClass = StorageClass({
    name: "folder",
    annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
    provisioner: "setpoint.dev/folder",
    reclaimPolicy: "Delete",
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
  });
  await Promise.all([
    client.apply(ClusterRole, ClusterRole({ name, rules }), options),
    client.apply(ClusterRoleBinding, ClusterRoleBinding({ name, roleRef, subjects }), options),
    client.apply(ClusterRoleBinding, kubeletBinding, options),
    client.apply(ClusterRole, metricsReader, options),
    client.apply(ClusterRole, ClusterRole({ name: networkName, rules: networkRules }), options),
    client.apply(ClusterRoleBinding, networkBinding, options),
    client.apply(StorageClass, storageClass, options),
  ]);
}
