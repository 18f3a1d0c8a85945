/** Which certificates a cluster needs, and in which Secrets they are. */
import { type CertificateSubject, certificateTimes } from "@setpoint/data-service";
import { clientNames } from "../instance/manager-paths.ts";
import { poolerRole } from "../instance/pooler-protocol.ts";
import { labels } from "./labels.ts";
import { serverName } from "./names.ts";
import type { PostgresCluster } from "./postgres-cluster.ts";

/** Instances mount `server` and `replication`, transfer pods `backup`; the operator has its own. */
export type CertificateRole = "server" | "replication" | "operator" | "backup";

export function certificateSecret(cluster: string, role: CertificateRole): string {
  return `${cluster}-${role}-tls`;
}

/** Poolers have one each, with which they are a server to clients, and a client of the server. */
export function poolerCertificateSecret(cluster: string, pooler: string): string {
  return `${cluster}-pooler-${pooler}-tls`;
}

/** `poolers` are the names of its PostgresPoolers. */
export function certificatesOf(cluster: PostgresCluster, poolers: readonly string[] = []): CertificateSubject {
  const { apiVersion, kind, metadata } = cluster;
  const { name = "", namespace = "", uid = "", generation, annotations = {} } = metadata;
  return {
    place: {
      namespace,
      owner: { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
      labels: { [labels.cluster]: name },
      authoritySecret: `${name}-ca`,
      givenAuthority: undefined,
      secretOf: (role) => certificateSecret(name, role as CertificateRole),
    },
    wanted: {
      leaves: [
        { role: "server", commonName: "postgres", hosts: hostsOf(cluster) },
        { role: "replication", commonName: clientNames.instance, hosts: [] },
        { role: "operator", commonName: clientNames.operator, hosts: [] },
        { role: "backup", commonName: clientNames.backup, hosts: [] },
        ...poolers.map((pooler) => ({
          role: `pooler-${pooler}`,
          commonName: poolerRole,
          hosts: serviceHosts(pooler, namespace),
        })),
      ],
      times: certificateTimes,
      rotation: annotations[labels.rotate] ?? "",
    },
    revision: String(generation),
    // PostgreSQL and the managers read their authorities again with each change of the files.
    processes: [],
  };
}

function hostsOf(cluster: PostgresCluster): readonly string[] {
  const { name = "", namespace = "" } = cluster.metadata;
  const all = serverName(cluster);
  const services = ["-rw", "-ro", "-r"].map((suffix) => `${name}${suffix}`);
  return [
    ...[all, `*.${all}`, `${all}.cluster.local`, `*.${all}.cluster.local`],
    ...services.flatMap((each) => serviceHosts(each, namespace)),
    ...["localhost", "127.0.0.1"],
  ];
}

function serviceHosts(service: string, namespace: string): readonly string[] {
  const name = `${service}.${namespace}`;
  return [service, name, `${name}.svc`, `${name}.svc.cluster.local`];
}
