/** Explains the refusal of a role or a binding that grants more than its writer may do itself. */
import { ApiError, isJsonObject, type ApiRequest } from "@setpoint/apimachinery";

const grantPattern = /is attempting to grant RBAC permissions not currently held:\n(.*)$/s;
const userPattern = /user "([^"]*)"/;

/** Whether the server refuses the request because of what it grants. */
export function isEscalation({ code, message }: ApiError): boolean {
  return code === 403 && grantPattern.test(message);
}

/**
 * The server lists every permission that is missing, one a line, and not the verb that helps. The message
 * names one of them, and the verb. Code and reason stay as they are.
 */
export function escalationError({ path, body }: ApiRequest, answered: ApiError): ApiError {
  const { message, status } = answered;
  const [head = ""] = message.split(" is forbidden:");
  const [, user = ""] = userPattern.exec(message) ?? [];
  const rules = (grantPattern.exec(message)?.[1] ?? "").split("\n").filter((line) => line.startsWith("{"));
  const more = rules.length > 1 ? ` and ${rules.length - 1} more` : "";
  const cure = cureOf(path, body);
  const short = `Cannot write ${head}: it grants permissions that "${user}" does not have (${rules[0] ?? ""}${more}); give "${user}" these permissions, or ${cure}`;
  return new ApiError({ ...status, message: short }, { cause: answered });
}

/** Who may `bind` a role may grant it; who may `escalate` a kind of roles may write any of them. */
function cureOf(path: string, body: unknown): string {
  const { kind, name } = roleRefOf(body);
  const resource = /\/clusterroles(\/|$)/.test(path) || kind === "ClusterRole" ? "clusterroles" : "roles";
  const isBinding = /\/(cluster)?rolebindings(\/|$)/.test(path);
  if (!isBinding) return `the verb "escalate" on ${resource} of rbac.authorization.k8s.io`;
  const which = typeof name === "string" ? `${resource} "${name}"` : resource;
  return `the verb "bind" on ${which} of rbac.authorization.k8s.io`;
}

interface RoleRef {
  readonly kind?: unknown;
  readonly name?: unknown;
}

/** The parsing border: the role that a binding names; a patch need not name it. */
function roleRefOf(body: unknown): RoleRef {
  const ref = isJsonObject(body) ? body["roleRef"] : undefined;
  return isJsonObject(ref) ? ref : {};
}
