/** Which certificates a cluster needs, in which Secrets they are, and how a member's pod uses them. */
import { type CertificatePlace, type CertificateSubject, certificateTimes } from "@setpoint/data-service";
import { parseDuration } from "setpoint";
import type { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { labels } from "../kind/member-names.ts";
import { clientServiceName } from "./services.ts";

/**
 * Members use `peer` and `server`, users `client`, and the operator itself `operator`; `user` and `root` are
 * for clusters with logins.
 */
export type CertificateRole = "peer" | "server" | "client" | "operator" | "user" | "root";

const folder = "/etc/etcd/tls";
/** What pods mount: `client` is for etcdctl inside of them. */
const mounted: readonly CertificateRole[] = ["peer", "server", "client"];
/** Only this name may act as a peer; certificates of clients have others. */
const peerName = "etcd-peer";

/**
 * Once authentication is on, etcd's JSON gateway refuses certificates with a name, because it could not take
 * that name for the user. The gRPC API does: with the certificate of `root` the operator sets the password of
 * root.
 */
const loginLeaves = [
  { role: "user", commonName: "", hosts: [] },
  { role: "root", commonName: "root", hosts: [] },
];

/** What the operator calls etcd with. */
export function operatorRole({ spec }: EtcdCluster): CertificateRole {
  return spec.auth?.enabled === true ? "user" : "operator";
}

/** What clients call etcd with. */
export function clientRole({ spec }: EtcdCluster): CertificateRole {
  return spec.auth?.enabled === true ? "user" : "client";
}

export function certificateSecret(cluster: string, role: CertificateRole): string {
  return `${cluster}-${role}-tls`;
}

/** A name that the certificates of all members have. */
export function serverName({ metadata: { name = "", namespace = "" } }: EtcdCluster): string {
  return `${name}.${namespace}.svc`;
}

/**
 * Whether a cluster uses TLS. Its first start decides it, because members with and without TLS cannot talk to
 * each other. A cluster that an older operator started has no TLS, and volumes of an earlier cluster bring
 * its mode along.
 */
function usesTls({ spec, status }: EtcdCluster, volumes: readonly PersistentVolumeClaim[]): boolean {
  if (status?.tls !== undefined) return true;
  if (status?.initialMembers !== undefined) return false;
  if (volumes.length > 0) return volumes.some(({ metadata }) => metadata.annotations?.[labels.tls] !== undefined);
  return (spec.tls?.mode ?? "Enabled") === "Enabled";
}

/** The cluster with the mode in its spec that counts. */
export function withTlsMode(cluster: EtcdCluster, volumes: readonly PersistentVolumeClaim[]): EtcdCluster {
  const mode = usesTls(cluster, volumes) ? "Enabled" : "Disabled";
  return { ...cluster, spec: { ...cluster.spec, tls: { ...cluster.spec.tls, mode } } };
}

/** The certificates of a cluster, and the members that run with them. */
export function certificatesOf(cluster: EtcdCluster, pods: readonly Pod[]): CertificateSubject {
  const { tls } = cluster.spec;
  const hosts = hostsOf(cluster);
  const leafMs = lifetimeMs(tls?.certificateLifetime, certificateTimes.leafMs);
  const authorityMs = lifetimeMs(tls?.authorityLifetime, certificateTimes.authorityMs);
  return {
    place: placeOf(cluster),
    wanted: {
      leaves: [
        { role: "peer", commonName: peerName, hosts },
        { role: "server", commonName: "etcd-server", hosts },
        { role: "client", commonName: "etcd-client", hosts: [] },
        { role: "operator", commonName: "etcd-operator", hosts: [] },
        ...(cluster.spec.auth?.enabled === true ? loginLeaves : []),
      ],
      times: { ...certificateTimes, leafMs, authorityMs },
      rotation: cluster.metadata.annotations?.[labels.rotate] ?? "",
    },
    // A user who wants a deleted Secret back at once changes something of the cluster.
    revision: `${cluster.metadata.generation} ${JSON.stringify(cluster.metadata.annotations ?? {})}`,
    processes: pods.map(({ metadata }) => ({
      name: metadata.name ?? "",
      trusts: (metadata.annotations?.[labels.trusts] ?? "").split(","),
    })),
  };
}

function lifetimeMs(text: string | undefined, otherwiseMs: number): number {
  return text === undefined ? otherwiseMs : parseDuration(text);
}

/** Where the certificates of a cluster are. */
export function placeOf(cluster: EtcdCluster): CertificatePlace {
  const { apiVersion, kind, metadata, spec } = cluster;
  const { name = "", namespace = "", uid = "" } = metadata;
  return {
    namespace,
    owner: { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
    labels: { [labels.cluster]: name },
    authoritySecret: `${name}-ca`,
    givenAuthority: spec.tls?.authoritySecret,
    secretOf: (role) => certificateSecret(name, role as CertificateRole),
  };
}

/**
 * The names of members and Services. The name of the headless Service stands first: etcd's JSON gateway calls
 * its own member, which looks up whether the caller's address is one of the names.
 */
function hostsOf(cluster: EtcdCluster): readonly string[] {
  const { name = "", namespace = "" } = cluster.metadata;
  const clients = clientServiceName(name);
  const all = serverName(cluster);
  return [
    ...[all, `*.${all}`, `${all}.cluster.local`, `*.${all}.cluster.local`],
    ...[clients, `${clients}.${namespace}`, `${clients}.${namespace}.svc`, `${clients}.${namespace}.svc.cluster.local`],
    ...["localhost", "127.0.0.1"],
  ];
}

/** etcd's options for certificates. */
export function tlsArguments(): Readonly<Record<string, string>> {
  const file = (role: CertificateRole, name: string): string => `${folder}/${role}/${name}`;
  return {
    "client-cert-auth": "true",
    "trusted-ca-file": file("server", "ca.crt"),
    "cert-file": file("server", "tls.crt"),
    "key-file": file("server", "tls.key"),
    "peer-client-cert-auth": "true",
    "peer-trusted-ca-file": file("peer", "ca.crt"),
    "peer-cert-file": file("peer", "tls.crt"),
    "peer-key-file": file("peer", "tls.key"),
    "peer-cert-allowed-cn": peerName,
    // Without this, etcd looks up whether the address of a peer has one of the names: no peer could join
    // while DNS is late. 3.6 has it without `experimental` too, but an upgrade changes the image of a pod and
    // nothing else, so all versions get the name that 3.4 and 3.5 know.
    "experimental-peer-skip-client-san-verification": "true",
  };
}

/** What etcdctl inside of a pod needs. */
export function tlsVariables(): readonly { readonly name: string; readonly value: string }[] {
  return [
    { name: "ETCDCTL_CACERT", value: `${folder}/client/ca.crt` },
    { name: "ETCDCTL_CERT", value: `${folder}/client/tls.crt` },
    { name: "ETCDCTL_KEY", value: `${folder}/client/tls.key` },
  ];
}

/** The volumes with the certificates that a member's pod mounts. */
export function tlsVolumes({ metadata: { name = "" } }: EtcdCluster): readonly object[] {
  return mounted.map((role) => ({
    name: `${role}-tls`,
    secret: { secretName: certificateSecret(name, role), defaultMode: 0o440 },
  }));
}

export function tlsMounts(): readonly { readonly name: string; readonly mountPath: string; readonly readOnly: true }[] {
  return mounted.map((role) => ({ name: `${role}-tls`, mountPath: `${folder}/${role}`, readOnly: true }));
}

/** Whether the member in a pod speaks TLS. */
export function speaksTls({ spec }: Pod): boolean {
  return spec?.volumes?.some(({ name }) => name === "server-tls") ?? false;
}
