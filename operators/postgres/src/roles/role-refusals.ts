/** What of the spec of a PostgresRole cannot be done, by field; pure. */
import { dataVersionOf } from "../kind/data-version.ts";
import type { Stored } from "setpoint";
import { innerName, isReservedRole, superuserGroups } from "../kind/inner-names.ts";
import type { RefusedField } from "../inner/refused-field.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { type PostgresRole, roleNameOf } from "./postgres-role.ts";

const nameMax = 61;

export function roleRefusals(
  role: PostgresRole,
  cluster: Stored<PostgresCluster> | undefined,
  rival: string | undefined,
): readonly RefusedField[] {
  return [...nameRefusals(role, cluster), ...rightRefusals(role, cluster), ...rivalRefusals(role, rival)];
}

function nameRefusals(role: PostgresRole, cluster: Stored<PostgresCluster> | undefined): readonly RefusedField[] {
  const name = roleNameOf(role);
  const refuse = (why: string): readonly RefusedField[] => [{ field: "spec.role", why }];
  if (!innerName.test(name) || name.length > nameMax)
    return refuse(
      `"${name}" is no name for a role: use at most ${nameMax} letters in lower case, digits, - and _, and begin with a letter or _`,
    );
  if (isReservedRole(name)) return refuse(`"${name}" belongs to PostgreSQL or to the operator; use another name`);
  if (cluster !== undefined && name === (cluster.spec.database?.owner ?? "app"))
    return refuse(
      `"${name}" is the owner of the cluster's database, and its login is in Secret "${cluster.metadata.name}-app"`,
    );
  return [];
}

function rightRefusals({ spec }: PostgresRole, cluster: Stored<PostgresCluster> | undefined): readonly RefusedField[] {
  const groups = spec.memberOf.filter((group) => superuserGroups.includes(group) || group === "postgres");
  const operators = spec.memberOf.filter((group) =>
    ["streaming_replica", "setpoint_pooler", "setpoint_monitor"].includes(group),
  );
  return [
    ...groups.map((group) => ({
      field: "spec.memberOf",
      why: `members of "${group}" can do what a superuser can, who could stop failover and backups; remove it`,
    })),
    ...operators.map((group) => ({ field: "spec.memberOf", why: `"${group}" belongs to the operator; remove it` })),
    ...(spec.createRole && cluster !== undefined && dataVersionOf(cluster) === "15"
      ? [
          {
            field: "spec.createRole",
            why: "in PostgreSQL 15 a role that may create roles can make itself a member of pg_execute_server_program, and so a superuser; create roles as PostgresRoles, or use version 17",
          },
        ]
      : []),
  ];
}

function rivalRefusals(role: PostgresRole, rival: string | undefined): readonly RefusedField[] {
  if (rival === undefined) return [];
  const why = `PostgresRole "${rival}" is older and has the role "${roleNameOf(role)}" already; delete one of them`;
  return [{ field: "spec.role", why }];
}
