/**
 * PodSecurity: rejects pods that violate the level of their namespace's labels, or warns the client.
 */
import { lookupTable, ApiError, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import { objectAt, sameJson, stringAt, valueAt } from "../../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../registry/admission-plugin.ts";
import { forbiddenByAdmission } from "../namespace-lifecycle.ts";
import { evaluatePod, violationsText } from "./evaluate-pod.ts";
import {
  type NamespacePolicy,
  privilegedNamespace,
  readNamespacePolicy,
  type SecurityPolicy,
  securityLevels,
} from "./namespace-policy.ts";

/** Pods that are exempt from the checks. */
export interface PodSecurityExemptions {
  readonly usernames?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly runtimeClasses?: readonly string[];
}

/** Where the template of a kind's pods is. */
const templatePaths: Readonly<Record<string, readonly string[]>> = lookupTable({
  "/podtemplates": ["template"],
  "/replicationcontrollers": ["spec", "template"],
  "apps/replicasets": ["spec", "template"],
  "apps/deployments": ["spec", "template"],
  "apps/statefulsets": ["spec", "template"],
  "apps/daemonsets": ["spec", "template"],
  "batch/jobs": ["spec", "template"],
  "batch/cronjobs": ["spec", "jobTemplate", "spec", "template"],
});
/** Subresources of pods that change no container. */
const ignoredSubresources: ReadonlySet<string> = new Set(
  "exec attach binding eviction log portforward proxy status".split(" "),
);
/** The number of pods of a namespace that are checked when its level changes. */
const podsCheckedMax = 3_000;

export function podSecurity(exemptions: PodSecurityExemptions = {}): AdmissionPlugin {
  return {
    name: "PodSecurity",
    async validate(request) {
      const { operation, definition, object } = request;
      if (object === undefined || (operation !== "CREATE" && operation !== "UPDATE")) return;
      const resource = `${definition.group}/${definition.resource}`;
      if (resource === "/namespaces") checkNamespace(request, object, exemptions);
      else if (resource === "/pods") checkPod(request, object, exemptions);
      else {
        const path = templatePaths[resource];
        if (path !== undefined) checkTemplate(request, valueAt(object, ...path), exemptions);
      }
    },
  };
}

function policyFor(request: AdmissionRequest, exemptions: PodSecurityExemptions): NamespacePolicy {
  const { namespaces = [], usernames = [] } = exemptions;
  if (namespaces.includes(request.namespace) || usernames.includes(request.user.username)) return privilegedNamespace;
  return readNamespacePolicy(request.reader.get("", "namespaces", "", request.namespace)?.metadata.labels);
}

function isExempt(pod: unknown, { runtimeClasses = [] }: PodSecurityExemptions): boolean {
  return runtimeClasses.length > 0 && runtimeClasses.includes(stringAt(pod, "spec", "runtimeClassName"));
}

function checkPod(request: AdmissionRequest, pod: UnstructuredObject, exemptions: PodSecurityExemptions): void {
  if (ignoredSubresources.has(request.subresource)) return;
  const policy = policyFor(request, exemptions);
  if (policy === privilegedNamespace || isExempt(pod, exemptions)) return;
  if (request.old !== undefined && !isSignificant(pod, request.old)) return;
  const violations = evaluatePod(policy.enforce, pod);
  if (violations.length > 0) {
    const text = `violates PodSecurity "${nameOf(policy.enforce)}": ${violationsText(violations)}`;
    throw forbiddenByAdmission(request, text);
  }
  warn(request, policy.warn, pod);
}

/** Whether an update of a pod changes a checked field; the rest of its spec is immutable. */
function isSignificant(pod: UnstructuredObject, old: UnstructuredObject): boolean {
  const seen = (each: UnstructuredObject): readonly unknown[] => [
    ...["initContainers", "containers", "ephemeralContainers"].map((field) => valueAt(each, "spec", field)),
    Object.entries(each.metadata.annotations ?? {}).filter(([key]) => /(apparmor|seccomp)\.security\./.test(key)),
  ];
  return !sameJson(seen(pod), seen(old));
}

/** A workload is never refused: its pods are. */
function checkTemplate(request: AdmissionRequest, template: unknown, exemptions: PodSecurityExemptions): void {
  if (request.subresource !== "" || template === undefined || template === null) return;
  const policy = policyFor(request, exemptions);
  if (policy !== privilegedNamespace && !isExempt(template, exemptions)) warn(request, policy.warn, template);
}

function warn(request: AdmissionRequest, policy: SecurityPolicy, pod: unknown): void {
  const violations = evaluatePod(policy, pod);
  if (violations.length > 0)
    request.warn(`would violate PodSecurity "${nameOf(policy)}": ${violationsText(violations)}`);
}

function nameOf({ level, version }: SecurityPolicy): string {
  return `${level}:${version}`;
}

function checkNamespace(
  request: AdmissionRequest,
  namespace: UnstructuredObject,
  exemptions: PodSecurityExemptions,
): void {
  if (request.subresource !== "") return;
  const policy = readNamespacePolicy(namespace.metadata.labels);
  if (policy === privilegedNamespace) return;
  const before = readNamespacePolicy(request.old?.metadata.labels);
  const text = policy.problems.join(", ");
  if (text !== "" && text !== before.problems.join(", ")) throw new ApiError(failure(422, "Invalid", text));
  if (request.old === undefined || !isTightened(policy.enforce, before.enforce)) return;
  const name = namespace.metadata.name ?? "";
  if (!(exemptions.namespaces ?? []).includes(name)) warnOfPods(request, name, policy.enforce);
}

function isTightened(policy: SecurityPolicy, before: SecurityPolicy): boolean {
  if (policy.level === "privileged") return false;
  if (policy.version !== before.version) return true;
  return securityLevels.indexOf(policy.level) > securityLevels.indexOf(before.level);
}

/** Existing pods stay; the client that tightens the level gets a warning with the pods that violate it. */
function warnOfPods(request: AdmissionRequest, namespace: string, policy: SecurityPolicy): void {
  const byReasons = new Map<string, string[]>();
  for (const pod of request.reader.list("", "pods", namespace).slice(0, podsCheckedMax)) {
    const violations = evaluatePod(policy, { ...pod, spec: objectAt(pod, "spec") });
    if (violations.length === 0) continue;
    const reasons = violations.map(({ reason }) => reason).join(", ");
    byReasons.set(reasons, [...(byReasons.get(reasons) ?? []), pod.metadata.name ?? ""]);
  }
  if (byReasons.size === 0) return;
  request.warn(
    `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${nameOf(policy)}"`,
  );
  const lines = [...byReasons].map(([reasons, names]) => `${first(names)}: ${reasons}`);
  for (const line of lines.sort()) request.warn(line);
}

/** `web (and 2 other pods)`. */
function first(names: readonly string[]): string {
  const [name = "", ...others] = names.toSorted();
  if (others.length === 0) return name;
  return `${name} (and ${others.length} other ${others.length === 1 ? "pod" : "pods"})`;
}
