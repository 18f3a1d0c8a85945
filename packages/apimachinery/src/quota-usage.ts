/**
 * What an object uses of a ResourceQuota, for quota admission and for the quota's status.
 */
import type { KubeObject, UnstructuredObject } from "./object.ts";
import {
  fieldsAt,
  type JsonFields,
  listAt,
  podResources,
  readQuantity,
  type ResourceAmounts,
} from "./pod-resources.ts";
import { parseQuantity, type Quantity } from "./quantity.ts";

const one = parseQuantity(1);
const countable: ReadonlySet<string> = new Set(
  "configmaps persistentvolumeclaims replicationcontrollers resourcequotas secrets services".split(" "),
);

/** By the names that quotas use: `pods`, `requests.cpu`, `count/deployments.apps`. */
export function quotaUsage(group: string, resource: string, object: UnstructuredObject): ResourceAmounts {
  const count = { [`count/${group === "" ? resource : `${resource}.${group}`}`]: one };
  if (group !== "") return count;
  const named = countable.has(resource) ? { ...count, [resource]: one } : count;
  if (resource === "pods") return { ...count, ...podUsage(object) };
  if (resource === "services") return { ...named, ...serviceUsage(object) };
  return resource === "persistentvolumeclaims" ? { ...named, ...claimUsage(object) } : named;
}

/** The resource that a name in a quota's limits counts: `["apps", "deployments"]`. */
export function quotaResource(name: string): readonly [group: string, resource: string] {
  if (name.startsWith("count/")) {
    const [resource = "", ...group] = name.slice("count/".length).split(".");
    return [group.join("."), resource];
  }
  if (countable.has(name)) return ["", name];
  if (name.startsWith("services.")) return ["", "services"];
  if (name === "requests.storage" || name.includes(".storageclass.storage.k8s.io/"))
    return ["", "persistentvolumeclaims"];
  return ["", "pods"];
}

/** Pods that have ended use nothing but their own object. */
function podUsage(pod: UnstructuredObject): ResourceAmounts {
  const phase = fieldsAt(pod, "status")["phase"];
  if (phase === "Succeeded" || phase === "Failed") return {};
  const usage: Record<string, Quantity> = { pods: one };
  for (const [name, amount] of Object.entries(podResources(pod, "requests"))) {
    usage[`requests.${name}`] = amount;
    if (isShort(name)) usage[name] = amount;
  }
  for (const [name, amount] of Object.entries(podResources(pod, "limits"))) usage[`limits.${name}`] = amount;
  return usage;
}

/** Requests of these may be named without `requests.`. */
function isShort(name: string): boolean {
  return name === "cpu" || name === "memory" || name === "ephemeral-storage" || name.startsWith("hugepages-");
}

function serviceUsage(service: UnstructuredObject): ResourceAmounts {
  const spec = fieldsAt(service, "spec");
  const ports = listAt(spec, "ports");
  if (spec["type"] === "NodePort") return { "services.nodeports": parseQuantity(ports.length) };
  if (spec["type"] !== "LoadBalancer") return {};
  const opened =
    spec["allocateLoadBalancerNodePorts"] === false ? ports.filter(({ nodePort }) => nodePort !== undefined) : ports;
  return { "services.loadbalancers": one, "services.nodeports": parseQuantity(opened.length) };
}

function claimUsage(claim: UnstructuredObject): ResourceAmounts {
  const spec = fieldsAt(claim, "spec");
  const storage = readQuantity(fieldsAt(spec, "resources", "requests")["storage"]);
  const className = spec["storageClassName"];
  const prefix =
    typeof className === "string" && className !== "" ? `${className}.storageclass.storage.k8s.io/` : undefined;
  return {
    ...(storage === undefined ? {} : { "requests.storage": storage }),
    ...(prefix === undefined ? {} : { [`${prefix}persistentvolumeclaims`]: one }),
    ...(prefix === undefined || storage === undefined ? {} : { [`${prefix}requests.storage`]: storage }),
  };
}

/** Whether a quota counts this object: those with scopes count pods of these scopes alone. */
export function inQuotaScope(quota: KubeObject, group: string, resource: string, object: UnstructuredObject): boolean {
  const spec = fieldsAt(quota, "spec");
  const scopes = Array.isArray(spec["scopes"]) ? spec["scopes"].map(String) : [];
  const expressions = listAt(fieldsAt(spec, "scopeSelector"), "matchExpressions");
  if (scopes.length === 0 && expressions.length === 0) return true;
  if (group !== "") return false;
  if (resource === "persistentvolumeclaims")
    return scopes.length === 0 && expressions.every((each) => matchesClaim(each, object));
  if (resource !== "pods") return false;
  return scopes.every((scope) => isInScope(scope, object)) && expressions.every((each) => matchesPod(each, object));
}

function matchesPod(expression: JsonFields, pod: UnstructuredObject): boolean {
  const { scopeName } = expression;
  if (scopeName !== "PriorityClass") return isInScope(String(scopeName), pod);
  return matchesValue(expression, fieldsAt(pod, "spec")["priorityClassName"]);
}

function matchesClaim(expression: JsonFields, claim: UnstructuredObject): boolean {
  if (expression["scopeName"] !== "VolumeAttributesClass") return false;
  return matchesValue(expression, fieldsAt(claim, "spec")["volumeAttributesClassName"]);
}

function matchesValue({ operator, values }: JsonFields, value: unknown): boolean {
  const has = typeof value === "string" && value !== "";
  if (operator === "Exists") return has;
  if (operator === "DoesNotExist") return !has;
  const isListed = has && Array.isArray(values) && values.includes(value);
  return operator === "NotIn" ? !isListed : isListed;
}

function isInScope(scope: string, pod: UnstructuredObject): boolean {
  const spec = fieldsAt(pod, "spec");
  const hasDeadline = typeof spec["activeDeadlineSeconds"] === "number";
  switch (scope) {
    case "Terminating":
      return hasDeadline;
    case "NotTerminating":
      return !hasDeadline;
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "CrossNamespacePodAffinity":
      return reachesOtherNamespaces(spec);
    case "PriorityClass":
      return spec["priorityClassName"] !== undefined && spec["priorityClassName"] !== "";
    default:
      return false;
  }
}

/** Without any request or limit of cpu and memory. */
function isBestEffort(pod: UnstructuredObject): boolean {
  const asked = { ...podResources(pod, "requests"), ...podResources(pod, "limits") };
  return ["cpu", "memory"].every((name) => (asked[name]?.nanos ?? 0n) === 0n);
}

function reachesOtherNamespaces(spec: JsonFields): boolean {
  return ["podAffinity", "podAntiAffinity"].some((kind) => {
    const affinity = fieldsAt(spec, "affinity", kind);
    const preferred = listAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    const terms = [
      ...listAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
      ...preferred.map((each) => fieldsAt(each, "podAffinityTerm")),
    ];
    return terms.some(
      ({ namespaces, namespaceSelector }) =>
        (Array.isArray(namespaces) && namespaces.length > 0) || (namespaceSelector ?? undefined) !== undefined,
    );
  });
}
