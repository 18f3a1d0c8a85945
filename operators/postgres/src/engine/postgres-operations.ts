/** Long operations on a PostgresCluster, for the kind Operation. */
import { changeFencing, changeHibernation, type EngineOperations } from "@setpoint/data-service";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { fencingFacts } from "../plan/fencing.ts";

/** What the operator can do with a PostgresCluster on request. */
export const postgresOperations: EngineOperations<PostgresCluster> = {
  name: "postgres",
  kind: PostgresCluster,
  types: ["Hibernate", "Wake", "Fence", "Unfence"],
  disruptive: ["Hibernate"],
  windows: ({ spec }) => spec.maintenanceWindows ?? [],
  advance(cluster, request, context) {
    const { type } = request;
    if (type === "Fence" || type === "Unfence") {
      const { members: recorded = [], stoppedFor } = cluster.status ?? {};
      const known = recorded.map(({ name, ready }) => ({ name, healthy: ready }));
      const facts = fencingFacts(cluster, known, stoppedFor !== undefined);
      return changeFencing(PostgresCluster, cluster, facts, request, context);
    }
    const members = { wanted: cluster.spec.instances, ready: cluster.status?.readyInstances ?? 0 };
    return changeHibernation(PostgresCluster, cluster, members, type, context);
  },
};
