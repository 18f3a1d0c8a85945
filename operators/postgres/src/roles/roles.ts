/** The controller of PostgresRoles. */
import { controller, keyOf, watching } from "setpoint";
import type { PolicyRule } from "setpoint/install";
import { Secret } from "setpoint/kinds";
import { watchCluster } from "../inner/watched-cluster.ts";
import type { InnerGateway } from "../instance/inner-gateway.ts";
import { observeRole } from "./observe-role.ts";
import { planRole } from "./plan-role.ts";
import { PostgresRole } from "./postgres-role.ts";
import { roleActions } from "./role-actions.ts";
import { removeRole } from "./role-removal.ts";
import { passwordLabel, secretNameOf } from "./role-secret.ts";
import { roleConditions, roleStatus } from "./role-status.ts";

/** The Secret's owner reference blocks the deletion of its owner. */
export const roleRules: readonly PolicyRule[] = [
  { apiGroups: [PostgresRole.group], resources: [`${PostgresRole.plural}/finalizers`], verbs: ["update"] },
];

export function roles(gateway: InnerGateway): ReturnType<typeof controller> {
  return controller(PostgresRole, {
    name: "postgres-roles",
    finalizer: "postgres.setpoint.dev/role",
    watches: [
      watchCluster(PostgresRole),
      watching(
        Secret,
        ({ metadata: { name, namespace } }, cache) =>
          cache
            .list(PostgresRole, { namespace })
            .filter((role) => role.spec.password !== undefined && secretNameOf(role) === name)
            .map(keyOf),
        { labelSelector: `${passwordLabel}=true` },
      ),
    ],
    observe: (role, context) => observeRole(role, context, gateway),
    plan: planRole,
    actions: roleActions(gateway),
    status: roleStatus,
    conditions: roleConditions,
    cleanup: (role, context) => removeRole(role, context, gateway),
  });
}
