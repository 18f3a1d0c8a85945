/** Columns of the remaining groups. */
import { lookupTable, formatHumanDuration, type UnstructuredObject } from "@setpoint/apimachinery";
import { objectAt, objectsAt, stringAt, valueAt } from "../json-fields.ts";
import type { TableColumn } from "../../response/table-column.ts";
import {
  ageColumn,
  booleanColumn,
  createdAtColumn,
  none,
  numeric,
  pathColumn,
  selectorText,
  textColumn,
  wide,
} from "./column-kinds.ts";

function subjects(
  kind: string,
  text: (subject: Record<string, unknown>) => string,
): (binding: UnstructuredObject) => string {
  return (binding) =>
    objectsAt(binding, "subjects")
      .filter((each) => each["kind"] === kind)
      .map(text)
      .join(", ");
}

const byName = (subject: Record<string, unknown>): string => stringAt(subject, "name");

const bindingColumns: readonly TableColumn[] = [
  textColumn("Role", (binding) => `${stringAt(binding, "roleRef", "kind")}/${stringAt(binding, "roleRef", "name")}`),
  ageColumn,
  textColumn("Users", subjects("User", byName), wide),
  textColumn("Groups", subjects("Group", byName), wide),
  textColumn(
    "ServiceAccounts",
    subjects("ServiceAccount", (each) => `${stringAt(each, "namespace")}/${byName(each)}`),
    wide,
  ),
];

function count(name: string, path: readonly string[]): TableColumn {
  return { name, type: "integer", priority: 0, cell: (object) => objectsAt(object, ...path).length };
}

function listText(value: unknown, absent: string): string {
  return Array.isArray(value) && value.length > 0 ? value.map(String).join(",") : absent;
}

function ingressHosts(ingress: UnstructuredObject): string {
  const hosts = objectsAt(ingress, "spec", "rules")
    .map((rule) => stringAt(rule, "host"))
    .filter((host) => host !== "");
  return hosts.length === 0 ? "*" : hosts.join(",");
}

function ingressAddress(ingress: UnstructuredObject): string {
  return objectsAt(ingress, "status", "loadBalancer", "ingress")
    .map((each) => stringAt(each, "ip") || stringAt(each, "hostname"))
    .join(",");
}

function certificateCondition(request: UnstructuredObject): string {
  const types = new Set(objectsAt(request, "status", "conditions").map((each) => stringAt(each, "type")));
  const states = ["Approved", "Denied", "Failed"].filter((type) => types.has(type));
  if (types.size === 0) states.push("Pending");
  if (stringAt(request, "status", "certificate") !== "") states.push("Issued");
  return states.join(",");
}

function requestedDuration(request: UnstructuredObject): string {
  const seconds = valueAt(request, "spec", "expirationSeconds");
  return typeof seconds === "number" ? formatHumanDuration(seconds * 1000) : none;
}

function parentReference(address: UnstructuredObject): string {
  const parent = objectAt(address, "spec", "parentRef");
  return ["group", "resource", "namespace", "name"]
    .map((field) => stringAt(parent, field))
    .filter((part) => part !== "")
    .join("/");
}

function kindReference(...path: readonly string[]): (object: UnstructuredObject) => string {
  return (object) => {
    const kind = objectAt(object, ...path);
    return Object.keys(kind).length === 0 ? "<unset>" : `${stringAt(kind, "apiVersion")}/${stringAt(kind, "kind")}`;
  };
}

function policyBinding(): readonly TableColumn[] {
  const reference = (object: UnstructuredObject): string => {
    const { name, namespace } = objectAt(object, "spec", "paramRef");
    if (typeof name !== "string") return "<unset>";
    return typeof namespace === "string" && namespace !== "" ? `${namespace}/${name}` : name;
  };
  return [pathColumn("PolicyName", "spec.policyName"), textColumn("ParamRef", reference), ageColumn];
}

function conditionStatus(object: UnstructuredObject, type: string): string {
  return stringAt(
    objectsAt(object, "status", "conditions").find((each) => each["type"] === type),
    "status",
  );
}

function apiServiceAvailable(service: UnstructuredObject): string {
  const available = objectsAt(service, "status", "conditions").find((each) => each["type"] === "Available");
  if (available === undefined) return "Unknown";
  return available["status"] === "True"
    ? "True"
    : `${stringAt(available, "status")} (${stringAt(available, "reason")})`;
}

function apiServiceTarget(service: UnstructuredObject): string {
  const target = objectAt(service, "spec", "service");
  return Object.keys(target).length === 0 ? "Local" : `${stringAt(target, "namespace")}/${stringAt(target, "name")}`;
}

function ingressClassParameters(ingressClass: UnstructuredObject): string {
  const { apiGroup, kind, name } = objectAt(ingressClass, "spec", "parameters");
  if (typeof kind !== "string") return none;
  return `${kind}${typeof apiGroup === "string" ? `.${apiGroup}` : ""}/${String(name)}`;
}

const admission = "admissionregistration.k8s.io";

/** By `group/Kind`. */
export const otherColumns: Readonly<Record<string, readonly TableColumn[]>> = lookupTable({
  "rbac.authorization.k8s.io/Role": [createdAtColumn],
  "rbac.authorization.k8s.io/ClusterRole": [createdAtColumn],
  "rbac.authorization.k8s.io/RoleBinding": bindingColumns,
  "rbac.authorization.k8s.io/ClusterRoleBinding": bindingColumns,
  "apiextensions.k8s.io/CustomResourceDefinition": [createdAtColumn],
  "apiregistration.k8s.io/APIService": [
    textColumn("Service", apiServiceTarget),
    textColumn("Available", apiServiceAvailable),
    ageColumn,
  ],
  "networking.k8s.io/Ingress": [
    pathColumn("Class", "spec.ingressClassName", none),
    textColumn("Hosts", ingressHosts),
    textColumn("Address", ingressAddress),
    textColumn("Ports", (ingress) => (objectsAt(ingress, "spec", "tls").length > 0 ? "80, 443" : "80")),
    ageColumn,
  ],
  "networking.k8s.io/IngressClass": [
    pathColumn("Controller", "spec.controller"),
    textColumn("Parameters", ingressClassParameters),
    ageColumn,
  ],
  "networking.k8s.io/NetworkPolicy": [
    textColumn("Pod-Selector", (policy) => selectorText(valueAt(policy, "spec", "podSelector"))),
    ageColumn,
  ],
  "networking.k8s.io/ServiceCIDR": [
    textColumn("CIDRs", (object) => listText(valueAt(object, "spec", "cidrs"), "")),
    ageColumn,
  ],
  "networking.k8s.io/IPAddress": [textColumn("ParentRef", parentReference)],
  "certificates.k8s.io/CertificateSigningRequest": [
    ageColumn,
    pathColumn("SignerName", "spec.signerName", none),
    pathColumn("Requestor", "spec.username"),
    textColumn("RequestedDuration", requestedDuration),
    textColumn("Condition", certificateCondition),
  ],
  "coordination.k8s.io/Lease": [pathColumn("Holder", "spec.holderIdentity"), ageColumn],
  "storage.k8s.io/StorageClass": [
    pathColumn("Provisioner", "provisioner"),
    pathColumn("ReclaimPolicy", "reclaimPolicy", "Delete"),
    pathColumn("VolumeBindingMode", "volumeBindingMode", "<unset>"),
    textColumn("AllowVolumeExpansion", (object) => object["allowVolumeExpansion"] === true),
    ageColumn,
  ],
  "storage.k8s.io/CSIDriver": [
    booleanColumn("AttachRequired", "spec.attachRequired"),
    booleanColumn("PodInfoOnMount", "spec.podInfoOnMount"),
    booleanColumn("StorageCapacity", "spec.storageCapacity"),
    textColumn("TokenRequests", (object) =>
      listText(
        objectsAt(object, "spec", "tokenRequests").map((each) => each["audience"]),
        "<unset>",
      ),
    ),
    booleanColumn("RequiresRepublish", "spec.requiresRepublish"),
    textColumn("Modes", (object) => listText(valueAt(object, "spec", "volumeLifecycleModes"), none)),
    ageColumn,
  ],
  "storage.k8s.io/CSINode": [count("Drivers", ["spec", "drivers"]), ageColumn],
  "storage.k8s.io/CSIStorageCapacity": [createdAtColumn],
  "storage.k8s.io/VolumeAttachment": [
    pathColumn("Attacher", "spec.attacher"),
    pathColumn("PV", "spec.source.persistentVolumeName"),
    pathColumn("Node", "spec.nodeName"),
    booleanColumn("Attached", "status.attached"),
    ageColumn,
  ],
  "storage.k8s.io/VolumeAttributesClass": [pathColumn("DriverName", "driverName"), ageColumn],
  [`${admission}/MutatingWebhookConfiguration`]: [count("Webhooks", ["webhooks"]), ageColumn],
  [`${admission}/ValidatingWebhookConfiguration`]: [count("Webhooks", ["webhooks"]), ageColumn],
  [`${admission}/ValidatingAdmissionPolicy`]: [
    count("Validations", ["spec", "validations"]),
    textColumn("ParamKind", kindReference("spec", "paramKind")),
    ageColumn,
  ],
  [`${admission}/MutatingAdmissionPolicy`]: [
    count("Mutations", ["spec", "mutations"]),
    textColumn("ParamKind", kindReference("spec", "paramKind")),
    ageColumn,
  ],
  [`${admission}/ValidatingAdmissionPolicyBinding`]: policyBinding(),
  [`${admission}/MutatingAdmissionPolicyBinding`]: policyBinding(),
  "scheduling.k8s.io/PriorityClass": [
    { name: "Value", type: "integer", priority: 0, cell: (object) => numeric(object["value"]) },
    booleanColumn("Global-Default", "globalDefault"),
    ageColumn,
    pathColumn("PreemptionPolicy", "preemptionPolicy"),
  ],
  "node.k8s.io/RuntimeClass": [pathColumn("Handler", "handler"), ageColumn],
  "flowcontrol.apiserver.k8s.io/FlowSchema": [
    pathColumn("PriorityLevel", "spec.priorityLevelConfiguration.name"),
    pathColumn("MatchingPrecedence", "spec.matchingPrecedence"),
    pathColumn("DistinguisherMethod", "spec.distinguisherMethod.type", none),
    ageColumn,
    textColumn("MissingPL", (object) => conditionStatus(object, "Dangling") || "?"),
  ],
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration": [
    pathColumn("Type", "spec.type"),
    pathColumn("NominalConcurrencyShares", "spec.limited.nominalConcurrencyShares", none),
    pathColumn("Queues", "spec.limited.limitResponse.queuing.queues", none),
    pathColumn("HandSize", "spec.limited.limitResponse.queuing.handSize", none),
    pathColumn("QueueLengthLimit", "spec.limited.limitResponse.queuing.queueLengthLimit", none),
    ageColumn,
  ],
  "resource.k8s.io/ResourceClaim": [
    textColumn("State", (claim) => {
      const states = valueAt(claim, "status", "allocation") === undefined ? ["pending"] : ["allocated"];
      if (objectsAt(claim, "status", "reservedFor").length > 0) states.push("reserved");
      return (claim.metadata.deletionTimestamp === undefined ? states : ["deleted", ...states]).join(",");
    }),
    ageColumn,
  ],
  "resource.k8s.io/ResourceSlice": [
    pathColumn("Node", "spec.nodeName", "<unset>"),
    pathColumn("Driver", "spec.driver"),
    pathColumn("Pool", "spec.pool.name"),
    ageColumn,
  ],
});
