/** Nobody hands out rights that they do not have: the check on writes of roles and bindings. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../admission/admission-plugin.ts";
import { forbiddenStatus } from "./forbidden-message.ts";
import { type PolicyRule, readRules, ruleLines, uncoveredRules } from "./policy-rule.ts";
import { mastersGroup, type RbacAuthorizer } from "./rbac-authorizer.ts";
import { grantOf, rbacGroup, readRoleRef, type RoleRef, rulesOfClusterRole } from "./role-bindings.ts";

/** Admission for roles (verb `escalate` frees of it) and bindings (verb `bind`). */
export function createRbacEscalationPlugin(authorizer: RbacAuthorizer): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    validate(request) {
      const { definition, object, operation, subresource, user } = request;
      if (definition.group !== rbacGroup || object === undefined || subresource !== "") return;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      if (user.groups.includes(mastersGroup)) return;
      if (definition.resource.endsWith("bindings")) checkBinding(authorizer, request, object);
      else checkRole(authorizer, request, object);
    },
  };
}

function checkRole(authorizer: RbacAuthorizer, request: AdmissionRequest, object: UnstructuredObject): void {
  const same = (field: string): boolean => JSON.stringify(object[field]) === JSON.stringify(request.old?.[field]);
  if (request.old !== undefined && same("rules") && same("aggregationRule")) return;
  const { definition } = request;
  if (may(authorizer, request, "escalate", definition.resource, object.metadata.name ?? "")) return;
  const own = readRules(object);
  const aggregated = definition.resource === "clusterroles" ? rulesOfClusterRole(request.reader, object) : own;
  refuseUncovered(authorizer, request, [...own, ...aggregated]);
}

function checkBinding(authorizer: RbacAuthorizer, request: AdmissionRequest, object: UnstructuredObject): void {
  const same = (field: string): boolean => JSON.stringify(object[field]) === JSON.stringify(request.old?.[field]);
  if (request.old !== undefined && same("roleRef") && same("subjects")) return;
  const ref: RoleRef = readRoleRef(object);
  const resource = ref.kind === "ClusterRole" ? "clusterroles" : "roles";
  if (may(authorizer, request, "bind", resource, ref.name)) return;
  const grant = grantOf(request.reader, ref, request.namespace);
  if (grant.missing.length > 0) throw refusal(request, grant.missing.join(", "));
  refuseUncovered(authorizer, request, grant.rules);
}

function refuseUncovered(authorizer: RbacAuthorizer, request: AdmissionRequest, wanted: readonly PolicyRule[]): void {
  const { user, namespace } = request;
  const uncovered = uncoveredRules(authorizer.rulesFor(user, namespace), wanted);
  if (uncovered.length === 0) return;
  const groups = user.groups.map((group) => JSON.stringify(group)).join(" ");
  const who = `user ${JSON.stringify(user.username)} (groups=[${groups}])`;
  const lines = ruleLines(uncovered).join("\n");
  throw refusal(request, `${who} is attempting to grant RBAC permissions not currently held:\n${lines}`);
}

function refusal(request: AdmissionRequest, message: string): Error {
  const { group, resource } = request.definition;
  return forbiddenStatus({ group, resource, name: request.object?.metadata.name ?? request.name }, message);
}

function may(
  authorizer: RbacAuthorizer,
  request: AdmissionRequest,
  verb: string,
  resource: string,
  name: string,
): boolean {
  const target = { group: rbacGroup, version: "v1", resource, subresource: "", namespace: request.namespace, name };
  return authorizer.authorize({ user: request.user, verb, isResourceRequest: true, path: "", ...target }).allowed;
}
