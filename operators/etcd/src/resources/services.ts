/** The two Services of a cluster: names for the members, and one address for clients. */
import { Service } from "@setpoint/api";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { clientPort, labels, peerPort } from "../member-names.ts";

export function clientServiceName(cluster: string): string {
  return `${cluster}-client`;
}

/** Headless: each member's pod gets a name. Members find each other before they are ready, so those count too. */
export function peerService(cluster: EtcdCluster): Service {
  const { name = "", namespace = "" } = cluster.metadata;
  return Service({
    name,
    namespace,
    labels: { [labels.cluster]: name },
    spec: {
      clusterIP: "None",
      publishNotReadyAddresses: true,
      selector: { [labels.cluster]: name },
      ports: [
        { name: "peer", port: peerPort, protocol: "TCP", targetPort: peerPort },
        { name: "client", port: clientPort, protocol: "TCP", targetPort: clientPort },
      ],
    },
  });
}

/** For clients: only members that are ready. */
export function clientService(cluster: EtcdCluster): Service {
  const { name = "", namespace = "" } = cluster.metadata;
  return Service({
    name: clientServiceName(name),
    namespace,
    labels: { [labels.cluster]: name },
    spec: {
      selector: { [labels.cluster]: name },
      ports: [{ name: "client", port: clientPort, protocol: "TCP", targetPort: clientPort }],
    },
  });
}
