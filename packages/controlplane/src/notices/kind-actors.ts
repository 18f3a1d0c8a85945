/** What acts on the objects of each built-in kind: a controller, the API server, nodes, or clients alone. */
import type { ControllerDefinition } from "@setpoint/runtime";

const server = "API server";
const nodes = "nodes";
const clients = "clients, as data";

/** By `group/Kind`: the kinds on which something other than a controller acts. */
const others: Readonly<Record<string, string>> = {
  "/Binding": server,
  "/ComponentStatus": server,
  "/ConfigMap": nodes,
  "/Endpoints": clients,
  "/Event": clients,
  "/LimitRange": server,
  "/Node": nodes,
  "/PersistentVolume": nodes,
  "/PersistentVolumeClaim": nodes,
  "/Pod": nodes,
  "/PodTemplate": clients,
  "/ResourceQuota": server,
  "/Secret": nodes,
  "/Service": nodes,
  "/ServiceAccount": server,
  "admissionregistration.k8s.io/MutatingAdmissionPolicy": server,
  "admissionregistration.k8s.io/MutatingAdmissionPolicyBinding": server,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": server,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy": server,
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding": server,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": server,
  "apiextensions.k8s.io/CustomResourceDefinition": server,
  "apiregistration.k8s.io/APIService": server,
  "apps/ControllerRevision": clients,
  "authentication.k8s.io/SelfSubjectReview": server,
  "authentication.k8s.io/TokenReview": server,
  "authorization.k8s.io/LocalSubjectAccessReview": server,
  "authorization.k8s.io/SelfSubjectAccessReview": server,
  "authorization.k8s.io/SelfSubjectRulesReview": server,
  "authorization.k8s.io/SubjectAccessReview": server,
  "coordination.k8s.io/Lease": clients,
  "discovery.k8s.io/EndpointSlice": nodes,
  "events.k8s.io/Event": clients,
  "networking.k8s.io/NetworkPolicy": nodes,
  "rbac.authorization.k8s.io/ClusterRole": server,
  "rbac.authorization.k8s.io/ClusterRoleBinding": server,
  "rbac.authorization.k8s.io/Role": server,
  "rbac.authorization.k8s.io/RoleBinding": server,
  "scheduling.k8s.io/PriorityClass": server,
  "storage.k8s.io/StorageClass": nodes,
};

/** What to do about an object on which nothing acts; other kinds have a common advice. */
const advice: Readonly<Record<string, string>> = {
  "flowcontrol.apiserver.k8s.io/FlowSchema": "all users have an equal share of the API server",
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": "all users have an equal share of the API server",
  "networking.k8s.io/IPAddress": "Services get their addresses without it",
  "networking.k8s.io/Ingress":
    'install an Ingress controller with its IngressClass, or reach the Service by "setpoint connect"',
  "networking.k8s.io/IngressClass": "install the Ingress controller that it names",
  "networking.k8s.io/ServiceCIDR": "Services get their addresses from the range of the first one",
  "node.k8s.io/RuntimeClass": "remove runtimeClassName from pods, because all have the one runtime of the node",
};

const commonAdvice = "run a program that does, or do without it";

/** The kinds on which something acts, with the names of what does. */
export type KindActors = ReadonlyMap<string, readonly string[]>;

export function kindKey(group: string, kind: string): string {
  return `${group}/${kind}`;
}

/** A kind has an actor as soon as one of these controllers reconciles it. */
export function kindActors(controllers: readonly ControllerDefinition[]): KindActors {
  const actors = new Map(Object.entries(others).map(([key, actor]) => [key, [actor]]));
  for (const { name, kind } of controllers) {
    const key = kindKey(kind.group, kind.kind);
    actors.set(key, [...(actors.get(key) ?? []), `controller ${name}`]);
  }
  return actors;
}

/** What to do about an object of a kind without an actor. */
export function adviceFor(key: string): string {
  return advice[key] ?? commonAdvice;
}
