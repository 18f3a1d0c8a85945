/** The two Services of a cluster: names for the members, and one address for clients. */
import { Service } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { clientPort, labels, peerPort } from "../kind/member-names.ts";

export function clientServiceName(cluster: string): string {
  return `${cluster}-client`;
}

type ServiceSpec = NonNullable<Service["spec"]>;
type ServicePort = NonNullable<ServiceSpec["ports"]>[number];

/** What one of the Services is beside its selector, which is the cluster's name for both. */
export interface ServiceRole {
  readonly nameOf: (cluster: string) => string;
  readonly ports: readonly ServicePort[];
  readonly rest: Pick<ServiceSpec, "clusterIP" | "publishNotReadyAddresses">;
}

const peers: ServicePort = { name: "peer", port: peerPort, protocol: "TCP", targetPort: peerPort };
const clients: ServicePort = { name: "client", port: clientPort, protocol: "TCP", targetPort: clientPort };

export const serviceRoles: readonly ServiceRole[] = [
  // Headless: each member's pod gets a name. Members find each other before they are ready, so those count
  // too.
  {
    nameOf: (cluster) => cluster,
    ports: [peers, clients],
    rest: { clusterIP: "None", publishNotReadyAddresses: true },
  },
  // For clients: only members that are ready.
  { nameOf: clientServiceName, ports: [clients], rest: {} },
];

export function wantedService(cluster: EtcdCluster, { nameOf, ports, rest }: ServiceRole): Service {
  const { name = "", namespace = "" } = cluster.metadata;
  return Service({
    name: nameOf(name),
    namespace,
    labels: { [labels.cluster]: name },
    spec: { ...rest, selector: { [labels.cluster]: name }, ports: [...ports] },
  });
}

/** Services have addresses of the loopback network where pods have them too. */
export function isOutsideOfLoopback(service: Service | undefined): boolean {
  const { clusterIP = "" } = service?.spec ?? {};
  return clusterIP !== "" && clusterIP !== "None" && !clusterIP.startsWith("127.");
}

/** Compares what we set; the rest of a Service belongs to the server and to others. */
export function isAsWanted({ metadata, spec }: Service, cluster: EtcdCluster, role: ServiceRole): boolean {
  const { name } = cluster.metadata;
  const { ports = [], selector = {}, publishNotReadyAddresses = false } = spec;
  return (
    metadata.labels?.[labels.cluster] === name &&
    selector[labels.cluster] === name &&
    // One label more, and it selects nobody.
    Object.keys(selector).length === 1 &&
    publishNotReadyAddresses === (role.rest.publishNotReadyAddresses ?? false) &&
    ports.length === role.ports.length &&
    ports.every((port, at) => isSamePort(port, role.ports[at]))
  );
}

function isSamePort({ name, port, targetPort }: ServicePort, wanted: ServicePort | undefined): boolean {
  return name === wanted?.name && port === wanted?.port && targetPort === wanted?.targetPort;
}

/**
 * A merge patch that restores a Service. An apply is not enough, because it keeps what another client added.
 * A port with a changed number counts as added, and the server refuses ours beside it, because both have the
 * same name.
 */
export function restoration({ spec }: Service, wanted: Service): object {
  const foreign = Object.keys(spec?.selector ?? {}).map((label) => [label, null] as const);
  const selector = { ...Object.fromEntries(foreign), ...wanted.spec?.selector };
  const { ports, publishNotReadyAddresses = false } = wanted.spec ?? {};
  return { metadata: { labels: wanted.metadata.labels }, spec: { selector, ports, publishNotReadyAddresses } };
}
