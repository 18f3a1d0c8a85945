/** Writes to the API that would give a workload the rights of another one. All are dry runs. */
import type { Act } from "./act.ts";
import { requestAct, type RequestAct } from "./api-verdict.ts";
import { podAttempts } from "./pod-acts.ts";
import type { ApiRequest } from "./probed-pod.ts";

const nothing = "compliance-probe-none";
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const dryRun = "dryRun=All";

const post = (path: string, body: object): ApiRequest => ({ method: "POST", path: `${path}?${dryRun}`, body });

const requests: readonly RequestAct[] = [
  {
    name: "configmap-write-other-namespace",
    severity: "medium",
    tries: "create a ConfigMap in another namespace",
    because: "the configuration of the system and of other teams steers their programs",
    remedy: "use a Role and a RoleBinding in place of a ClusterRoleBinding",
    request: ({ otherNamespace }) =>
      post(`/api/v1/namespaces/${otherNamespace}/configmaps`, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: nothing },
      }),
  },
  {
    name: "pod-exec-other-namespace",
    severity: "high",
    tries: "run a command in a pod of another namespace",
    because: "the command has the token, the files and the network of that pod",
    remedy: "grant pods/exec to people for a time, and to no workload",
    request: ({ otherNamespace }) => ({
      method: "POST",
      path: `/api/v1/namespaces/${otherNamespace}/pods/${nothing}/exec?command=true`,
    }),
  },
  {
    name: "cluster-role-create",
    severity: "high",
    tries: "create a ClusterRole",
    because: "roles decide about the rights of all",
    remedy: "grant writes of roles to administrators alone",
    request: () =>
      post(`${rbac}/clusterroles`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: nothing },
        rules: [],
      }),
  },
  {
    name: "rbac-escalate",
    severity: "high",
    tries: "bind its own account to cluster-admin",
    because: "an account that may do that has all rights",
    remedy: "grant writes of bindings, and the verbs bind and escalate, to administrators alone",
    request: ({ namespace, serviceAccount }) =>
      post(`${rbac}/clusterrolebindings`, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: nothing },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
        subjects: [{ kind: "ServiceAccount", name: serviceAccount, namespace }],
      }),
  },
  {
    name: "impersonate",
    severity: "high",
    tries: "act as a member of system:masters",
    because: "this group is above all rules",
    remedy: "grant the verb impersonate to nobody, or with resourceNames",
    request: () => ({
      ...post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "SelfSubjectReview",
      }),
      headers: { "Impersonate-User": nothing, "Impersonate-Group": "system:masters" },
    }),
  },
  {
    name: "node-change",
    severity: "high",
    tries: "label its node",
    because: "labels and taints decide which pods, with which Secrets, run on the node",
    remedy: "grant writes of nodes to kubelets and administrators alone",
    request: ({ node }) => ({
      method: "PATCH",
      path: `/api/v1/nodes/${node}?${dryRun}`,
      body: { metadata: { labels: { "compliance.setpoint.dev/none": "" } } },
    }),
  },
  {
    name: "token-create",
    severity: "high",
    tries: "create a token for an account of another namespace",
    because: "a token gives all rights of the account",
    remedy: "grant serviceaccounts/token with resourceNames, in the own namespace",
    request: ({ otherNamespace }) =>
      post(`/api/v1/namespaces/${otherNamespace}/serviceaccounts/default/token`, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: 600 },
      }),
  },
  {
    name: "webhook-create",
    severity: "high",
    tries: "create a webhook that sees every write",
    because: "a webhook reads and changes all objects, Secrets too",
    remedy: "grant writes of webhook configurations to administrators alone",
    request: () =>
      post("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "MutatingWebhookConfiguration",
        metadata: { name: nothing },
      }),
  },
  {
    name: "certificate-approve",
    severity: "high",
    tries: "approve a certificate request",
    because: "a signed certificate is a login, also as a member of system:masters",
    remedy: "grant certificatesigningrequests/approval to administrators alone",
    request: () => ({
      method: "PATCH",
      path: `/apis/certificates.k8s.io/v1/certificatesigningrequests/${nothing}/approval?${dryRun}`,
      body: { status: { conditions: [{ type: "Approved", status: "True", reason: "Probe", message: "dry run" }] } },
    }),
  },
];

export const rightsActs: readonly Act[] = [...requests, ...podAttempts].map((each) => requestAct("rights", each));
