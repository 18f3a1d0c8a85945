import type { UserInfo } from "@setpoint/apimachinery";

/** Where operators run. */
export const operatorNamespace = "operators";

/** The user of a test, the controllers and the nodes: they may do everything. */
export const clusterAdmin: UserInfo = { username: "admin", groups: ["system:masters", "system:authenticated"] };

/** The service account of an operator. */
export function operatorUser(name: string): UserInfo {
  return {
    username: `system:serviceaccount:${operatorNamespace}:${name}-operator`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${operatorNamespace}`, "system:authenticated"],
  };
}
