/**
 * Users can grant only permissions that they have: the check on writes of roles and bindings. It reads the
 * whole object after the write, whatever the write changed: a label may put a role into another one, so
 * labels count like rules.
 */
import { deepEqual, type UnstructuredObject } from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { aggregationSelectors } from "./aggregation.ts";
import { forbiddenStatus } from "./forbidden-message.ts";
import { type PolicyRule, readRules, ruleLines, uncoveredRules } from "./policy-rule.ts";
import { allRules, mastersGroup, type RbacAuthorizer } from "./rbac-authorizer.ts";
import { grantOf, rbacGroup, readRoleRef, type RoleRef } from "./role-bindings.ts";

/** Admission for roles (the verb `escalate` passes) and bindings (the verb `bind` passes). */
export function createRbacEscalationPlugin(authorizer: RbacAuthorizer): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    async validate(request) {
      const { definition, object, old, operation, subresource, user } = request;
      if (definition.group !== rbacGroup || object === undefined || subresource !== "") return;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      if (user.groups.includes(mastersGroup)) return;
      if (old !== undefined && changesOnlyCollection(object, old)) return;
      if (definition.resource.endsWith("bindings")) checkBinding(authorizer, request, object);
      else checkRole(authorizer, request, object);
    },
  };
}

/** The garbage collector sets these without having any right that the role gives; they give none. */
const collectionFields = ["ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation"] as const;

function changesOnlyCollection(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return deepEqual(withoutCollection(object), withoutCollection(old));
}

function withoutCollection(object: UnstructuredObject): UnstructuredObject {
  const metadata: Record<string, unknown> = { ...object.metadata };
  for (const field of collectionFields) delete metadata[field];
  return { ...object, metadata };
}

function checkRole(authorizer: RbacAuthorizer, request: AdmissionRequest, object: UnstructuredObject): void {
  const { definition, old, operation } = request;
  // A creation is authorized before its name is known: `escalate` on one name does not allow it.
  const name = operation === "CREATE" ? "" : (object.metadata.name ?? "");
  if (may(authorizer, request, "escalate", definition.resource, name)) return;
  refuseUncovered(authorizer, request, readRules(object));
  if (!aggregates(object) && !aggregates(old)) return;
  // Its selectors pick roles that exist and roles to come, so nothing less than everything covers it.
  if (uncoveredRules(authorizer.rulesFor(request.user, request.namespace), allRules).length > 0)
    throw refusal(request, "must have cluster-admin privileges to use the aggregationRule");
}

function aggregates(role: UnstructuredObject | undefined): boolean {
  return role !== undefined && aggregationSelectors(role).length > 0;
}

function checkBinding(authorizer: RbacAuthorizer, request: AdmissionRequest, object: UnstructuredObject): void {
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
