/** The messages of 403s; clients match on these texts. */
import { lookupTable, ApiError, failure, groupResource } from "@setpoint/apimachinery";
import type { RequestAttributes } from "../request/request-attributes.ts";

/** Go's `%q` for the names that occur here. */
const quote = (text: string): string => JSON.stringify(text);

const escapes: Readonly<Record<string, string>> = lookupTable({ "&": "&amp;", "<": "&lt;", ">": "&gt;" });

/** What a user may not do: `User "bob" cannot list resource "pods" in API group "" at the cluster scope`. */
export function forbiddenMessage(attributes: RequestAttributes): string {
  return sentence(attributes).replace(/[&<>]/g, (character) => escapes[character] ?? character);
}

function sentence(attributes: RequestAttributes): string {
  const who = `User ${quote(attributes.user.username)} cannot ${attributes.verb}`;
  if (!attributes.isResourceRequest) return `${who} path ${quote(attributes.path)}`;
  const { resource, subresource, group, namespace } = attributes;
  const what = quote(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${quote(namespace)}`;
  return `${who} resource ${what} in API group ${quote(group)} ${where}`;
}

/** The complete 403 for attributes that an authorizer refused, with its reason. */
export function forbidden(attributes: RequestAttributes, reason?: string): ApiError {
  const message = forbiddenMessage(attributes);
  return forbiddenStatus(attributes, reason === undefined || reason === "" ? message : `${message}: ${reason}`);
}

/** A 403 with any text: `roles.rbac.authorization.k8s.io "x" is forbidden: …`. */
export function forbiddenStatus(
  target: { readonly group: string; readonly resource: string; readonly name: string },
  message: string,
): ApiError {
  const { group, resource, name } = target;
  const details = {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    ...(resource === "" ? {} : { kind: resource }),
  };
  return new ApiError(failure(403, "Forbidden", `${subjectOf(group, resource, name)}forbidden: ${message}`, details));
}

function subjectOf(group: string, resource: string, name: string): string {
  if (resource === "") return "";
  const text = groupResource({ group, resource });
  return name === "" ? `${text} is ` : `${text} ${quote(name)} is `;
}
