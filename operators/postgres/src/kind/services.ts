/** The Services of a cluster by their roles, and how many instances a drain must leave. */
import type { MemberSet, ServiceRole } from "@setpoint/data-service";
import { labels } from "./labels.ts";
import { type InstanceRole, postgresPort } from "./names.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

export function memberSet({ metadata: { name = "", namespace = "", uid = "" } }: PostgresCluster): MemberSet {
  return { name, namespace, uid, label: labels.cluster };
}

const ports = [{ name: "postgres", port: postgresPort, protocol: "TCP", targetPort: postgresPort }] as const;

function address(suffix: string, role?: InstanceRole): ServiceRole {
  const selects = role === undefined ? {} : { [labels.role]: role };
  return { nameOf: (cluster) => `${cluster}${suffix}`, ports, rest: {}, selects };
}

export const serviceRoles: readonly ServiceRole[] = [
  // Names for the instances, which find each other before they are ready.
  { nameOf: (cluster) => cluster, ports, rest: { clusterIP: "None", publishNotReadyAddresses: true } },
  address("-rw", "primary"),
  address("-ro", "replica"),
  address("-r"),
];

/** A drain takes one instance at a time; when that is the primary, another one takes its place. */
export function minAvailable({ spec }: PostgresCluster): number {
  return Math.max(0, spec.instances - 1);
}
