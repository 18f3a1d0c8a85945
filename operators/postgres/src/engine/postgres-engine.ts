/** The half of the engine that the operator calls. The other one is `postgres-agent.ts`. */
import type { EngineControl, InstanceState, SnapshotSource } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import type { InstanceGateway } from "../instance/instance-gateway.ts";
import { certificateSecret } from "../kind/certificates.ts";
import { dataVersionOf } from "../kind/data-version.ts";
import { instanceHost, serverName } from "../kind/names.ts";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { dataFolder } from "./data-folder.ts";
import { postgresLog } from "./postgres-log.ts";
import { postgresTarget } from "./postgres-target.ts";
import { postgresUsers } from "./postgres-users.ts";

/** The engine "postgres"; `gateway` changes its users. */
export function postgresEngine(gateway: InstanceGateway): EngineControl<PostgresCluster> {
  return { ...engine, users: postgresUsers(gateway) };
}

const engine: EngineControl<PostgresCluster> = {
  name: "postgres",
  kind: PostgresCluster,
  state,
  source,
  versionRefusal: (cluster, engineVersion) =>
    dataVersionOf(cluster) === engineVersion
      ? undefined
      : `the data are of PostgreSQL ${engineVersion}, and those of the cluster are of ${dataVersionOf(cluster)}: a base backup fits its own major version only`,
  dataFolder,
  log: postgresLog,
  target: postgresTarget,
  newInstance: (name, namespace, spec) =>
    // The server checks the merged spec when the object is created.
    PostgresCluster({ name, namespace, spec: spec as PostgresCluster["spec"] }),
};

function state(cluster: Stored<PostgresCluster>): InstanceState {
  const { status } = cluster;
  const conditions = (status?.conditions ?? []) as readonly { readonly type?: unknown; readonly status?: unknown }[];
  return {
    serving: conditions.some((each) => each.type === "Available" && each.status === "True"),
    waitingFor: status?.waitingFor?.what,
    engineVersion: dataVersionOf(cluster),
    restored: status?.restored,
    stoppedFor: status?.stoppedFor,
  };
}

/** Replicas first: a base backup costs the instance that gives it. */
function source(cluster: Stored<PostgresCluster>): SnapshotSource {
  const { name } = cluster.metadata;
  const ready = (cluster.status?.members ?? []).filter(({ ready: isReady }) => isReady);
  const sorted = ready.toSorted((a, b) => Number(a.role === "Primary") - Number(b.role === "Primary"));
  return {
    request: { hosts: sorted.map((each) => instanceHost(each.name, cluster)), serverName: serverName(cluster) },
    secretNames: [certificateSecret(name, "backup")],
  };
}
