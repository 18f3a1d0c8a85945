/** The names of instances, their objects and their addresses. */
import type { PostgresCluster } from "./postgres-cluster.ts";

export const postgresPort = 5432;
/** Where the operator and the other instances talk to an instance manager, with certificates. */
export const managerPort = 8443;
/** Where the kubelet asks an instance manager, without a certificate. */
export const probePort = 8080;
/** Where an instance manager serves its metrics, as CloudNativePG does. */
export const metricsPort = 9187;
/** Where a pod of a pooler serves clients; its Service has the port of PostgreSQL. */
export const poolerPort = 6432;

/** Where a pod has the volume with our program, and the folder that the server and the archiver share. */
export const programPath = "/setpoint";
export const archivePath = "/run/archive";
/** Where an instance has what logs in to a server outside of the cluster, and whom it trusts. */
export const otherServerPath = "/etc/postgres/import";
export const otherServerFiles = { password: "password", ca: "ca.crt", certificate: "tls.crt", key: "tls.key" } as const;
/** Where the pod that upgrades the data has the programs of the next major version. */
export const nextProgramsPath = "/setpoint-next";

/** `none`: it serves no clients at the moment, as it starts, stops or goes back to an earlier position. */
export type InstanceRole = "primary" | "replica" | "none";

/** The instances that a cluster of this size has, in the order of their numbers. */
export function wantedInstances({ metadata: { name = "" }, spec }: PostgresCluster): readonly string[] {
  return Array.from({ length: spec.instances }, (_, at) => `${name}-${at + 1}`);
}

/** The number at the end of an instance's name. */
export function numberOf(instance: string): number {
  return Number(/-(\d+)$/.exec(instance)?.[1] ?? 0);
}

/** The claim of an instance; `restoreId` is that of the restore whose data it has. */
export function claimName(instance: string, restoreId: string | undefined): string {
  return restoreId === undefined ? `data-${instance}` : `data-${instance}-${restoreId}`;
}

/** The stable name of an instance in the DNS of the Kubernetes cluster; pods come and go, the name stays. */
export function instanceHost(instance: string, { metadata: { name = "", namespace = "" } }: PostgresCluster): string {
  return `${instance}.${name}.${namespace}.svc`;
}

/** A name that the certificates of all instances have. */
export function serverName({ metadata: { name = "", namespace = "" } }: PostgresCluster): string {
  return `${name}.${namespace}.svc`;
}

/** The Secret with the login of the application. */
export function appSecretName(cluster: string): string {
  return `${cluster}-app`;
}
