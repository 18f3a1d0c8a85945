/** The two Services of a cluster: names for the members, and one address for clients. */
import type { MemberSet, ServiceRole } from "@setpoint/data-service";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { clientPort, labels, peerPort } from "../kind/member-names.ts";

export function clientServiceName(cluster: string): string {
  return `${cluster}-client`;
}

const peers = { name: "peer", port: peerPort, protocol: "TCP", targetPort: peerPort } as const;
const clients = { name: "client", port: clientPort, protocol: "TCP", targetPort: clientPort } as const;

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

/** The members of a cluster, by which Services and the budget select them. */
export function memberSet({ metadata: { name = "", namespace = "", uid } }: EtcdCluster): MemberSet {
  return { name, namespace, uid, label: labels.cluster };
}

/** A drain may take one member at a time. A single member may be taken: it comes back on its volume. */
export function minAvailable({ spec }: EtcdCluster): number {
  return spec.size - 1;
}
