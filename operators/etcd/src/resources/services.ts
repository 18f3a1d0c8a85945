/** The two Services of a cluster: names for the members, and one address for clients. */
import { Service } from "@setpoint/api";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { clientPort, labels, peerPort } from "../member-names.ts";

export function clientServiceName(cluster: string): string {
  return `${cluster}-client`;
}

export function wantedServices(cluster: EtcdCluster): readonly Service[] {
  return [peerService(cluster), clientService(cluster)];
}

/** Headless: each member's pod gets a name. Members find each other before they are ready, so those count too. */
function peerService(cluster: EtcdCluster): Service {
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
function clientService(cluster: EtcdCluster): Service {
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

/** Compares what we set; the rest of a Service belongs to the server and to others. */
export function isAsWanted({ metadata, spec }: Service, wanted: Service): boolean {
  const {
    ports: wantedPorts = [],
    selector: wantedSelector = {},
    publishNotReadyAddresses = false,
  } = wanted.spec ?? {};
  const { ports = [], selector = {} } = spec ?? {};
  const name = labels.cluster;
  return (
    metadata.labels?.[name] === wanted.metadata.labels?.[name] &&
    // One label more, and it selects nobody.
    Object.keys(selector).length === Object.keys(wantedSelector).length &&
    selector[name] === wantedSelector[name] &&
    (spec?.publishNotReadyAddresses ?? false) === publishNotReadyAddresses &&
    ports.length === wantedPorts.length &&
    ports.every((port, at) => isSamePort(port, wantedPorts[at]))
  );
}

type ServicePort = NonNullable<NonNullable<Service["spec"]>["ports"]>[number];

function isSamePort({ name, port, targetPort }: ServicePort, wanted: ServicePort | undefined): boolean {
  return name === wanted?.name && port === wanted?.port && targetPort === wanted?.targetPort;
}

/**
 * A merge patch that makes a Service as wanted again. An apply would not do: what somebody else has added stays in an apply, and a
 * port that got another number is one that was added, beside which the server refuses ours, because it has the same name.
 */
export function restoration({ spec }: Service, wanted: Service): object {
  const foreign = Object.keys(spec?.selector ?? {}).map((label) => [label, null] as const);
  const selector = { ...Object.fromEntries(foreign), ...wanted.spec?.selector };
  const publishNotReadyAddresses = wanted.spec?.publishNotReadyAddresses ?? false;
  return {
    metadata: { labels: wanted.metadata.labels },
    spec: { selector, ports: wanted.spec?.ports, publishNotReadyAddresses },
  };
}
