/** What the built-in controllers may do: they run as one user, whose role names what they make. */
import { ClusterRole, ClusterRoleBinding } from "@setpoint/api";
import type { Transport, UserInfo } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import type { Host } from "@setpoint/host";

const name = "setpoint:controllers";
/** Not upstream's `system:kube-controller-manager`, which may create Secrets and tokens. */
export const controllersUser: UserInfo = { username: name, groups: ["system:authenticated"] };
const apiGroup = "rbac.authorization.k8s.io";

const rules = [
  // The garbage collector and the deletion of namespaces reach every kind, as upstream's do.
  {
    apiGroups: ["*"],
    resources: ["*"],
    verbs: ["get", "list", "watch", "patch", "update", "delete", "deletecollection"],
  },
  {
    apiGroups: [""],
    resources: ["configmaps", "endpoints", "persistentvolumeclaims", "pods", "serviceaccounts"],
    verbs: ["create"],
  },
  { apiGroups: [""], resources: ["bindings", "pods/binding"], verbs: ["create"] },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create"] },
  { apiGroups: ["apps"], resources: ["controllerrevisions", "replicasets"], verbs: ["create"] },
  { apiGroups: ["batch"], resources: ["jobs"], verbs: ["create"] },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["create"] },
  {
    apiGroups: ["certificates.k8s.io"],
    resources: ["signers"],
    resourceNames: ["kube-apiserver-client", "kube-apiserver-client-kubelet", "kubelet-serving"].map(
      (signer) => `kubernetes.io/${signer}`,
    ),
    verbs: ["sign"],
  },
];

/** Applies their role; they start after it. */
export async function prepareForControllers(transport: Transport, host: Host): Promise<void> {
  const client = createClient(transport, host);
  const options = { fieldManager: "setpoint", force: true };
  const roleRef = { apiGroup, kind: "ClusterRole", name };
  const subjects = [{ apiGroup, kind: "User", name: controllersUser.username }];
  await Promise.all([
    client.apply(ClusterRole, ClusterRole({ name, rules }), options),
    client.apply(ClusterRoleBinding, ClusterRoleBinding({ name, roleRef, subjects }), options),
  ]);
}
