/** The defaults of the kinds that need few: services, RBAC, policies, storage classes, webhooks. */
import {
  ensureObject,
  fillDefaults,
  isJsonObject,
  type JsonObject,
  objectAt,
  objectsAt,
  stringAt,
} from "../json-fields.ts";

const stickySeconds = 10_800;
const rbacGroup = "rbac.authorization.k8s.io";

export function setServiceDefaults(service: JsonObject): void {
  const spec = ensureObject(service, "spec");
  fillDefaults(spec, { sessionAffinity: "None", type: "ClusterIP" });
  if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
  else
    fillDefaults(ensureObject(ensureObject(spec, "sessionAffinityConfig"), "clientIP"), {
      timeoutSeconds: stickySeconds,
    });
  for (const port of objectsAt(spec, "ports")) {
    fillDefaults(port, { protocol: "TCP" });
    if (port["targetPort"] === undefined || port["targetPort"] === 0 || port["targetPort"] === "")
      port["targetPort"] = port["port"];
  }
  const type = spec["type"];
  const hasExternalIps = Array.isArray(spec["externalIPs"]) && spec["externalIPs"].length > 0;
  if (type === "NodePort" || type === "LoadBalancer" || (type === "ClusterIP" && hasExternalIps))
    fillDefaults(spec, { externalTrafficPolicy: "Cluster" });
  if (type === "LoadBalancer") fillDefaults(spec, { allocateLoadBalancerNodePorts: true });
  if (type !== "ExternalName") fillDefaults(spec, { internalTrafficPolicy: "Cluster" });
  ensureObject(ensureObject(service, "status"), "loadBalancer");
}

export function setBindingDefaults(binding: JsonObject): void {
  fillDefaults(ensureObject(binding, "roleRef"), { apiGroup: rbacGroup });
  for (const subject of objectsAt(binding, "subjects")) {
    if (subject["kind"] === "User" || subject["kind"] === "Group") fillDefaults(subject, { apiGroup: rbacGroup });
  }
}

export function setNamespaceDefaults(namespace: JsonObject): void {
  const name = stringAt(namespace, "metadata", "name");
  if (name !== "") ensureObject(ensureObject(namespace, "metadata"), "labels")["kubernetes.io/metadata.name"] = name;
  fillDefaults(ensureObject(namespace, "status"), { phase: "Active" });
}

export function setSecretDefaults(secret: JsonObject): void {
  fillDefaults(secret, { type: "Opaque" });
  const texts = secret["stringData"];
  if (isJsonObject(texts)) {
    const data = ensureObject(secret, "data");
    for (const [key, text] of Object.entries(texts))
      if (typeof text === "string") data[key] = Buffer.from(text, "utf8").toString("base64");
    delete secret["stringData"];
  }
}

export function setEndpointSliceDefaults(slice: JsonObject): void {
  for (const port of objectsAt(slice, "ports")) {
    port["name"] ??= "";
    fillDefaults(port, { protocol: "TCP" });
  }
}

export function setEndpointsDefaults(endpoints: JsonObject): void {
  for (const subset of objectsAt(endpoints, "subsets"))
    for (const port of objectsAt(subset, "ports")) fillDefaults(port, { protocol: "TCP" });
}

export function setNetworkPolicyDefaults(policy: JsonObject): void {
  const spec = ensureObject(policy, "spec");
  for (const rule of [...objectsAt(spec, "ingress"), ...objectsAt(spec, "egress")]) {
    for (const port of objectsAt(rule, "ports")) fillDefaults(port, { protocol: "TCP" });
  }
  fillDefaults(spec, { policyTypes: objectsAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"] });
}

export function setStorageClassDefaults(storageClass: JsonObject): void {
  fillDefaults(storageClass, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" });
}

export function setCsiDriverDefaults(driver: JsonObject): void {
  fillDefaults(ensureObject(driver, "spec"), {
    attachRequired: true,
    fsGroupPolicy: "ReadWriteOnceWithFSType",
    podInfoOnMount: false,
    requiresRepublish: false,
    seLinuxMount: false,
    storageCapacity: false,
    volumeLifecycleModes: ["Persistent"],
  });
}

export function setPriorityClassDefaults(priorityClass: JsonObject): void {
  fillDefaults(priorityClass, { preemptionPolicy: "PreemptLowerPriority" });
}

export function setAutoscalerDefaults(autoscaler: JsonObject): void {
  const spec = ensureObject(autoscaler, "spec");
  fillDefaults(spec, { minReplicas: 1 });
  if (autoscaler["apiVersion"] !== "autoscaling/v2") return;
  if (isJsonObject(spec["behavior"])) setBehaviorDefaults(spec["behavior"]);
  if (objectsAt(spec, "metrics").length > 0) return;
  const target = { averageUtilization: 80, type: "Utilization" };
  spec["metrics"] = [{ resource: { name: "cpu", target }, type: "Resource" }];
}

/** A behavior that says something of one direction gets rules for both. */
function setBehaviorDefaults(behavior: JsonObject): void {
  const percent = { type: "Percent", value: 100, periodSeconds: 15 };
  const pods = { type: "Pods", value: 4, periodSeconds: 15 };
  fillDefaults(ensureObject(behavior, "scaleUp"), {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [pods, percent],
  });
  fillDefaults(ensureObject(behavior, "scaleDown"), { selectPolicy: "Max", policies: [percent] });
}

export function setWebhookDefaults(configuration: JsonObject): void {
  const mutating = configuration["kind"] === "MutatingWebhookConfiguration";
  for (const webhook of objectsAt(configuration, "webhooks")) {
    fillDefaults(webhook, { failurePolicy: "Fail", matchPolicy: "Equivalent", timeoutSeconds: 10 });
    if (mutating) fillDefaults(webhook, { reinvocationPolicy: "Never" });
    ensureObject(webhook, "namespaceSelector");
    ensureObject(webhook, "objectSelector");
    for (const rule of objectsAt(webhook, "rules")) fillDefaults(rule, { scope: "*" });
    const service = objectAt(webhook, "clientConfig")["service"];
    if (isJsonObject(service)) fillDefaults(service, { port: 443 });
  }
}

export function setPolicyDefaults(policy: JsonObject): void {
  const spec = ensureObject(policy, "spec");
  fillDefaults(spec, { failurePolicy: "Fail" });
  setMatchDefaults(spec["matchConstraints"]);
}

export function setPolicyBindingDefaults(binding: JsonObject): void {
  setMatchDefaults(objectAt(binding, "spec")["matchResources"]);
}

function setMatchDefaults(match: unknown): void {
  if (!isJsonObject(match)) return;
  fillDefaults(match, { matchPolicy: "Equivalent" });
  ensureObject(match, "namespaceSelector");
  ensureObject(match, "objectSelector");
  for (const rule of [...objectsAt(match, "resourceRules"), ...objectsAt(match, "excludeResourceRules")])
    fillDefaults(rule, { scope: "*" });
}

/** A limit's defaults follow from its bounds: default ← max, defaultRequest ← default or min. */
export function setLimitRangeDefaults(range: JsonObject): void {
  for (const item of objectsAt(range, "spec", "limits")) {
    if (item["type"] !== "Container") continue;
    const limit = ensureObject(item, "default");
    for (const [name, max] of Object.entries(objectAt(item, "max"))) limit[name] ??= max;
    const request = ensureObject(item, "defaultRequest");
    for (const [name, value] of Object.entries(limit)) request[name] ??= value;
    for (const [name, min] of Object.entries(objectAt(item, "min"))) request[name] ??= min;
    for (const field of ["default", "defaultRequest"])
      if (Object.keys(objectAt(item, field)).length === 0) delete item[field];
  }
}

/** All that a node has may be allocated, until its agent says otherwise. */
export function setNodeDefaults(node: JsonObject): void {
  const { capacity, allocatable } = objectAt(node, "status");
  if (allocatable === undefined && isJsonObject(capacity))
    ensureObject(node, "status")["allocatable"] = { ...capacity };
}
