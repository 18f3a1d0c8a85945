/** Which addresses and ports lead to which endpoints: of Services, nodes and pods on their node; pure. */
import type { Pod, Service, ServicePort } from "@setpoint/api";
import { podRange, serviceRange } from "./base-rules.ts";
import { inCidr, isIpv4, isPort } from "./ipv4.ts";
import { nodeAddressOf } from "./pod-addresses.ts";
import { backends, hasClusterIp, type ServiceTable } from "./service-table.ts";

export interface Backend {
  readonly host: string;
  readonly port: number;
}

export interface ServedPort {
  readonly address: string;
  readonly protocol: "tcp" | "udp";
  readonly port: number;
  readonly targets: readonly Backend[];
  /** How long a client stays with its endpoint; absent: each connection has its own. */
  readonly affinitySeconds?: number;
}

/** Stands for the address of every node. */
export const everyNode = "";
const defaultAffinitySeconds = 10_800;

const protocols: Readonly<Record<string, ServedPort["protocol"] | undefined>> = { TCP: "tcp", UDP: "udp" };

export interface ServicePortsOptions {
  /** The node whose pods are the clients. */
  readonly nodeAddress: string;
  /** Cluster DNS itself answers there, also when a Service claims it. */
  readonly dnsAddress: string;
}

/** Cluster addresses, external addresses and node ports, each place once: the oldest Service has it. */
export function servicePorts(table: ServiceTable, options: ServicePortsOptions): readonly ServedPort[] {
  const oldestFirst = [...table.services()].filter((service) => hasClusterIp(service)).sort(byAge);
  return firstOfEach(oldestFirst.flatMap((service) => portsOf(table, service, options)));
}

function portsOf(table: ServiceTable, service: Service, options: ServicePortsOptions): ServedPort[] {
  return (service.spec.ports ?? []).flatMap((port) => {
    const protocol = protocols[port.protocol ?? "TCP"];
    if (protocol === undefined) return [];
    // Endpoints are written by users too: an address that is no pod's is not translated to.
    const all = backends(table, service, port).filter(({ host }) => inCidr(host, podRange));
    const affinity = affinityOf(service);
    const served = (address: string, number: number, targets: readonly Backend[]): ServedPort[] =>
      targets.length === 0 ? [] : [{ address, protocol, port: number, targets, ...affinity }];
    const { clusterIP = "", internalTrafficPolicy } = service.spec;
    const inside = internalTrafficPolicy === "Local" ? onNode(all, options.nodeAddress) : all;
    const isServed = isIpv4(clusterIP) && clusterIP !== options.dnsAddress;
    return [
      ...(isServed ? served(clusterIP, port.port, inside) : []),
      ...externalAddresses(service).flatMap((address) => served(address, port.port, all)),
      ...nodePortPlaces(service, port, all).flatMap(([address, number, targets]) => served(address, number, targets)),
    ];
  });
}

/** With `externalTrafficPolicy: Local` each node leads to its own pods. */
function nodePortPlaces(
  { spec }: Service,
  { nodePort = 0 }: ServicePort,
  all: readonly Backend[],
): (readonly [address: string, port: number, targets: readonly Backend[]])[] {
  if (!["NodePort", "LoadBalancer"].includes(spec.type ?? "") || !isPort(nodePort)) return [];
  if (spec.externalTrafficPolicy !== "Local") return [[everyNode, nodePort, all]];
  const nodes = [...new Set(all.map(({ host }) => nodeAddressOf(host)))];
  return nodes.map((node) => [node, nodePort, onNode(all, node)] as const);
}

export function onNode(targets: readonly Backend[], nodeAddress: string): readonly Backend[] {
  return targets.filter(({ host }) => nodeAddressOf(host) === nodeAddress);
}

/** None that is a pod's, a Service's or a node's: a Service cannot take what others own. */
function externalAddresses({ spec, status }: Service): readonly string[] {
  const balanced = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode = "VIP" }) =>
    ip === undefined || ipMode !== "VIP" ? [] : [ip],
  );
  const owned = [podRange, serviceRange, "127.0.0.0/8", "169.254.0.0/16"];
  return [...(spec.externalIPs ?? []), ...balanced].filter(
    (address) => isIpv4(address) && !owned.some((range) => inCidr(address, range)),
  );
}

function affinityOf({ spec }: Service): Pick<ServedPort, "affinitySeconds"> {
  if (spec.sessionAffinity !== "ClientIP") return {};
  return { affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds };
}

/** `hostPort` of the pods of a node, by the address that they have. */
export function hostPorts(
  pods: readonly { readonly pod: Pod; readonly address: string }[],
  nodeAddress: string,
): readonly ServedPort[] {
  return firstOfEach(
    pods.flatMap(({ pod, address }) => podHostPorts(pod).flatMap((port) => hostPortPlaces(port, address, nodeAddress))),
  );
}

type HostPort = NonNullable<Pod["spec"]["containers"][number]["ports"]>[number];

/** A pod in the network of its node listens there by itself. */
function podHostPorts({ spec, status }: Pod): readonly HostPort[] {
  const isOver = status?.phase === "Succeeded" || status?.phase === "Failed";
  if (isOver || spec.hostNetwork === true) return [];
  return [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ ports = [] }) => ports);
}

function hostPortPlaces(
  { hostIP = "", hostPort = 0, containerPort, protocol: asked = "TCP" }: HostPort,
  host: string,
  nodeAddress: string,
): ServedPort[] {
  const protocol = protocols[asked];
  if (!isPort(hostPort) || protocol === undefined) return [];
  const isAny = hostIP === "" || hostIP === "0.0.0.0";
  const addresses = isAny ? [nodeAddress, "127.0.0.1"] : [hostIP].filter(isIpv4);
  return addresses.map((address) => ({ address, protocol, port: hostPort, targets: [{ host, port: containerPort }] }));
}

/** Two rules for one address and port would spoil all the others. */
function firstOfEach(served: readonly ServedPort[]): readonly ServedPort[] {
  const byPlace = Map.groupBy(served, ({ address, protocol, port }) => `${address} ${protocol} ${port}`);
  return [...byPlace.values()].flatMap(([first]) => first ?? []);
}

function byAge(a: Service, b: Service): number {
  const [left, right] = [a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? ""];
  return left < right ? -1 : left > right ? 1 : 0;
}
