/** The authorizer of CEL expressions: checks permissions of the request's user and of service accounts. */
import type { UserInfo } from "@setpoint/apimachinery";
import type { CelAccess, CelAuthorizer } from "@setpoint/schema/cel";
import type { AdmissionRequest } from "../registry/admission-plugin.ts";
import type { Authorizer, RequestAttributes } from "../request/request-attributes.ts";

/** Called only when an expression checks a permission. */
export function requestAuthorizer(authorizer: Authorizer, request: AdmissionRequest): CelAuthorizer {
  const { definition, subresource, namespace, name, user } = request;
  const { group, resource } = definition;
  return {
    requestResource: { group, resource, subresource, namespace, name },
    check: (access) => authorizer.authorize(attributesOf(access, user)),
  };
}

const nothing = { path: "", group: "", version: "", resource: "", subresource: "", namespace: "", name: "" };

/** RBAC does not know selectors: with them it allows what it allows without. */
function attributesOf(access: CelAccess, requester: UserInfo): RequestAttributes {
  const { verb, serviceAccount } = access;
  const user = serviceAccount === undefined ? requester : userOf(serviceAccount.namespace, serviceAccount.name);
  if (access.kind === "path") return { ...nothing, user, verb, path: access.path, isResourceRequest: false };
  const { group, resource, subresource, namespace, name } = access;
  const asked = { group, version: "*", resource, subresource, namespace, name };
  return { ...nothing, ...asked, user, verb, isResourceRequest: true };
}

/** Without `system:authenticated`, as upstream. */
function userOf(namespace: string, name: string): UserInfo {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return { username: `system:serviceaccount:${namespace}:${name}`, groups };
}
