/**
 * What NetworkPolicies say about one pod: pure look-ups over pods, namespaces and policies as they are now.
 */
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, Pod } from "@setpoint/api";
import { type KubeObject, labelSelectorOf } from "@setpoint/apimachinery";

/** A pod with its address in the pod network. */
export interface PodAddress {
  readonly address: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `TCP/http` → container port. */
  readonly ports: ReadonlyMap<string, number>;
}

export interface PolicySources {
  readonly policies: readonly NetworkPolicy[];
  readonly namespaces: readonly KubeObject[];
  /** Every pod of the cluster that has an address. */
  readonly pods: readonly PodAddress[];
}

/** What one rule of a policy allows. */
export interface AllowedTraffic {
  /** Undefined: every peer. */
  readonly peers: PeerAddresses | undefined;
  /** Undefined: every port. */
  readonly ports: readonly NetworkPolicyPort[] | undefined;
}

export interface PeerAddresses {
  readonly pods: readonly PodAddress[];
  readonly blocks: readonly { readonly cidr: string; readonly except: readonly string[] }[];
}

export type Direction = "ingress" | "egress";

/** Undefined when no policy selects the pod in this direction: then all traffic is allowed. */
export function allowedTraffic(
  sources: PolicySources,
  pod: PodAddress,
  direction: Direction,
): readonly AllowedTraffic[] | undefined {
  const selecting = sources.policies.filter((policy) => selects(policy, pod, direction));
  if (selecting.length === 0) return undefined;
  return selecting.flatMap((policy) =>
    rulesOf(policy, direction).map(({ peers, ports }) => ({
      peers: peers.length === 0 ? undefined : peerAddresses(sources, policy.metadata.namespace ?? "", peers),
      ports: ports.length === 0 ? undefined : ports,
    })),
  );
}

function selects({ metadata, spec }: NetworkPolicy, pod: PodAddress, direction: Direction): boolean {
  if (metadata.namespace !== pod.namespace || metadata.deletionTimestamp !== undefined) return false;
  const types = spec.policyTypes ?? ["Ingress", ...((spec.egress ?? []).length > 0 ? ["Egress"] : [])];
  if (!types.includes(direction === "ingress" ? "Ingress" : "Egress")) return false;
  return labelSelectorOf(spec.podSelector ?? {}).matches(pod.labels);
}

function rulesOf(
  { spec }: NetworkPolicy,
  direction: Direction,
): { readonly peers: readonly NetworkPolicyPeer[]; readonly ports: readonly NetworkPolicyPort[] }[] {
  if (direction === "ingress") return (spec.ingress ?? []).map(({ from = [], ports = [] }) => ({ peers: from, ports }));
  return (spec.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports }));
}

function peerAddresses(
  { pods, namespaces }: PolicySources,
  ownNamespace: string,
  peers: readonly NetworkPolicyPeer[],
): PeerAddresses {
  const labels = new Map(namespaces.map(({ metadata }) => [metadata.name ?? "", metadata.labels ?? {}]));
  const matches = peers
    .filter(({ ipBlock }) => ipBlock === undefined)
    .map((peer) => peerTest(peer, ownNamespace, labels));
  return {
    pods: pods.filter((pod) => matches.some((isPeer) => isPeer(pod))),
    blocks: peers.flatMap(({ ipBlock }) =>
      ipBlock === undefined ? [] : [{ cidr: ipBlock.cidr, except: ipBlock.except ?? [] }],
    ),
  };
}

type NamespaceLabels = ReadonlyMap<string, Readonly<Record<string, string>>>;

/**
 * Without a selector of namespaces a peer is in the policy's own; without one of pods it is every pod there.
 */
function peerTest(
  { podSelector, namespaceSelector }: NetworkPolicyPeer,
  ownNamespace: string,
  namespaces: NamespaceLabels,
): (pod: PodAddress) => boolean {
  const podTest = labelSelectorOf(podSelector ?? {});
  const namespaceTest = namespaceSelector === undefined ? undefined : labelSelectorOf(namespaceSelector);
  return (pod) => {
    const isThere =
      namespaceTest === undefined
        ? pod.namespace === ownNamespace
        : namespaces.has(pod.namespace) && namespaceTest.matches(namespaces.get(pod.namespace));
    return isThere && podTest.matches(pod.labels);
  };
}

/** Undefined for a pod that has no address of its own in the pod network, or has ended. */
export function podAddress(pod: Pod, address: string | undefined): PodAddress | undefined {
  const isOver = pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
  if (address === undefined || isOver || pod.spec.hostNetwork === true) return undefined;
  const containers = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const ports = containers.flatMap(({ ports: named = [] }) =>
    named.flatMap(({ name, containerPort, protocol = "TCP" }) =>
      name === undefined ? [] : [[`${protocol}/${name}`, containerPort] as const],
    ),
  );
  return {
    address,
    namespace: pod.metadata.namespace ?? "default",
    labels: pod.metadata.labels ?? {},
    ports: new Map(ports),
  };
}
