/** Long operations on a PostgresCluster, for the kind Operation. */
import { changeHibernation, type EngineOperations } from "@setpoint/data-service";
import { PostgresCluster } from "../kind/postgres-cluster.ts";

/** What the operator can do with a PostgresCluster on request. */
export const postgresOperations: EngineOperations<PostgresCluster> = {
  name: "postgres",
  kind: PostgresCluster,
  types: ["Hibernate", "Wake"],
  disruptive: ["Hibernate"],
  windows: ({ spec }) => spec.maintenanceWindows ?? [],
  advance(cluster, { type }, context) {
    const members = { wanted: cluster.spec.instances, ready: cluster.status?.readyInstances ?? 0 };
    return changeHibernation(PostgresCluster, cluster, members, type, context);
  },
};
