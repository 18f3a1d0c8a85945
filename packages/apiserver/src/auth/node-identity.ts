import type { UserInfo } from "@setpoint/apimachinery";

/** Kubelets' group. */
export const nodesGroup = "system:nodes";
const prefix = "system:node:";

/**
 * The node that a user is the agent of: "" for a member of the group that names none, undefined for everybody
 * else.
 */
export function nodeIdentity({ username, groups }: UserInfo): string | undefined {
  if (!groups.includes(nodesGroup)) return undefined;
  return username.startsWith(prefix) ? username.slice(prefix.length) : "";
}
