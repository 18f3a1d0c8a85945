/** Whether the rules of a webhook or a policy match a request. */
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import type { ResourceRule } from "../registry/admissionregistration/resource-rule.ts";

/** What a rule is compared with: one version of a resource. */
type Subject = Pick<AdmissionRequest, "operation" | "subresource" | "name"> & {
  readonly definition: Pick<ResourceDefinition, "group" | "version" | "resource" | "namespaced">;
};

/**
 * Objects that decide about admission are never themselves subject to it: one wrong one could not be taken
 * back.
 */
const exempt: ReadonlySet<string> = new Set([
  "validatingwebhookconfigurations",
  "mutatingwebhookconfigurations",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
]);

export function isExempt({ definition }: Pick<AdmissionRequest, "definition">): boolean {
  return definition.group === "admissionregistration.k8s.io" && exempt.has(definition.resource);
}

export function matchesRule(rule: ResourceRule, subject: Subject): boolean {
  const { definition, operation, name } = subject;
  return (
    includes(rule.operations, operation) &&
    includes(rule.apiGroups, definition.group) &&
    includes(rule.apiVersions, definition.version) &&
    matchesScope(rule.scope, definition) &&
    (rule.resources ?? []).some((pattern) => matchesResource(pattern, definition.resource, subject.subresource)) &&
    (rule.resourceNames === undefined || rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
  );
}

function includes(allowed: readonly string[] = [], value: string): boolean {
  return allowed.includes("*") || allowed.includes(value);
}

/** A Namespace counts as cluster-scoped. */
function matchesScope(scope: string | undefined, { namespaced }: Subject["definition"]): boolean {
  if (scope === undefined || scope === "*") return true;
  return scope === (namespaced ? "Namespaced" : "Cluster");
}

/** `pods`, `pods/status`, `pods/*`, `*`, `*` with a subresource, and everything. */
function matchesResource(pattern: string, resource: string, subresource: string): boolean {
  const [wantedResource = "", wantedSubresource = ""] = pattern.split("/");
  const isResource = wantedResource === "*" || wantedResource === resource;
  const isSubresource = wantedSubresource === subresource || (wantedSubresource === "*" && pattern.includes("/"));
  return isResource && isSubresource;
}
