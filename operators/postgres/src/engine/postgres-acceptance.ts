/** What PostgreSQL brings to its acceptance tests. */
import type { EngineAcceptance, EngineControl } from "@setpoint/data-service";
import type { Stored } from "setpoint";
import { PersistentVolumeClaim, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { PostgresCluster } from "../kind/postgres-cluster.ts";

const instances = 3;

export function postgresAcceptance(engine: EngineControl<PostgresCluster>): EngineAcceptance<PostgresCluster> {
  return { ...acceptance, engine };
}

const acceptance: Omit<EngineAcceptance<PostgresCluster>, "engine"> = {
  instance: (name, namespace, version = "17") =>
    PostgresCluster({
      name,
      namespace,
      spec: { instances, version, storage: { size: "1Gi" }, synchronous: { number: 1 } } as PostgresCluster["spec"],
    }),
  changes: () => [
    { title: "shrink to 2 instances", spec: { instances: 2 } },
    { title: `grow to ${instances} instances`, spec: { instances } },
    { title: "change a setting that needs a restart", spec: { parameters: { max_connections: "120" } } },
  ],
  unsettled,
  victim: ({ status }) => status?.primary,
  // Secrets are left out: to list them, the operator would have to read all of the namespace.
  creates: [Pod, PersistentVolumeClaim, Service, PodDisruptionBudget],
};

function unsettled({ metadata, spec, status }: Stored<PostgresCluster>): string | undefined {
  if (status === undefined || status.observedGeneration !== metadata.generation)
    return "the operator has not seen the newest spec";
  const { phase, readyInstances, waitingFor } = status;
  if (phase !== "Running") return `it is ${phase}: ${waitingFor?.what ?? "no reason in its status"}`;
  return readyInstances === spec.instances ? undefined : `${readyInstances} of ${spec.instances} instances are ready`;
}
