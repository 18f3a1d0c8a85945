/** A node's part in the cluster's network: chooses the implementation and keeps its rules up to date. */
import { Namespace, NetworkPolicy, Pod } from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import { createNodeClient } from "../cluster/node-client.ts";
import { KindInformer } from "../cluster/kind-informer.ts";
import { podIdentity } from "../cluster/pod.ts";
import type { AddressBlockOptions } from "./address-block.ts";
import { createLoopbackNetwork } from "./loopback-network.ts";
import type { NetworkNamespace } from "./namespace-holder.ts";
import { createNamespaceNetwork } from "./namespace-network.ts";
import { NamespaceSockets } from "./namespace-sockets.ts";
import { NodeRules } from "./node-rules.ts";
import { hostAddress } from "./pod-addresses.ts";
import type { PodNetwork } from "./pod-network.ts";
import { PodSockets } from "./pod-sockets.ts";
import { policyRules } from "./policy-rules.ts";
import { podAddress, type PodAddress } from "./policy-table.ts";
import { replaceTable } from "./replace-table.ts";
import { applyRules } from "./run-in-namespace.ts";
import { hostSockets, type ServerSockets } from "./server-sockets.ts";
import type { ProxiedNode, ServiceProxyOptions } from "./service-proxy.ts";
import { hostPorts, type ServedPort, servicePorts } from "./service-ports.ts";
import { nodeNamespaceRules, serviceRules } from "./service-rules.ts";
import type { ServiceTable } from "./service-table.ts";

/** The cluster's network namespace, for a node that puts its pods there. */
export interface PodNetworkOptions {
  readonly namespace: NetworkNamespace;
  /** The address of the Service `kubernetes`, at which the API server listens inside. */
  readonly apiAddress: string;
  /** To the API server, as a user who may read all pods, namespaces and NetworkPolicies. */
  readonly transport: Transport;
}

export interface NodeNetworkOptions {
  readonly host: Host;
  readonly nodeName: string;
  /** Absent: pods share the host's network, on loopback addresses. */
  readonly podNetwork?: PodNetworkOptions | undefined;
  readonly addresses: AddressBlockOptions;
  readonly services: () => ServiceTable;
  readonly dnsAddress: string;
  /** The pods of this node. */
  readonly pods: () => readonly Pod[];
  /** Present: pods may share the network of the node, whose namespace is remembered there. */
  readonly nodeNamespaceFile?: string;
}

export interface NodeNetwork extends AsyncDisposable {
  readonly network: PodNetwork;
  /** Where cluster DNS opens its sockets. */
  readonly dnsSockets: ServerSockets;
  /** How the host reaches Services. */
  readonly proxy: ServiceProxyOptions;
  /** Services or endpoints changed. */
  update(): void;
  /** Resolves when the node knows the pods and policies of the cluster. */
  readonly synced: Promise<unknown>;
}

export async function createNodeNetwork(options: NodeNetworkOptions): Promise<NodeNetwork> {
  const { podNetwork } = options;
  if (podNetwork !== undefined) return createSeparateNetwork(options, podNetwork);
  const network = await createLoopbackNetwork(options.addresses);
  return {
    network,
    dnsSockets: hostSockets,
    proxy: { node: proxiedNode(options, network) },
    update() {},
    synced: Promise.resolve(),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function createSeparateNetwork(
  { host, nodeName, addresses, services, dnsAddress, pods, nodeNamespaceFile: file }: NodeNetworkOptions,
  { namespace, apiAddress, transport }: PodNetworkOptions,
): Promise<NodeNetwork> {
  await using stack = new AsyncDisposableStack();
  const sockets = stack.use(new NamespaceSockets(namespace));
  const network = await createNamespaceNetwork({
    ...addresses,
    namespace,
    sockets,
    podSockets: stack.use(new PodSockets(host.clock)),
    nodeNamespace: file === undefined ? undefined : { clock: host.clock, file },
    async ensureRules() {
      await synced;
      await rules.ensure();
    },
  });
  const rules = stack.use(
    new NodeRules({
      clock: host.clock,
      log: host.log,
      compile() {
        const own = pods().flatMap((pod) => podAddress(pod, network.addressOf(podIdentity(pod).uid)) ?? []);
        const sources = { policies: informers.policies.values(), namespaces: informers.namespaces.values() };
        const all = { ...sources, pods: allPods(informers.pods.values(), own) };
        const { nodeAddress, podCidr } = network;
        return policyRules(all, own, { apiAddress, nodeAddress }) + serviceRules({ podCidr, nodeAddress, ...served() });
      },
      apply: (text, before) => applyRules(namespace, replaceTable(`setpoint-node-${nodeName}`, before, text)),
    }),
  );
  const served = (): { services: readonly ServedPort[]; hostPorts: readonly ServedPort[] } => ({
    services: servicePorts(services(), { nodeAddress: network.nodeAddress, dnsAddress }),
    hostPorts: hostPorts(placedPods(pods(), network), network.nodeAddress),
  });
  const nodeRules = network.nodeHolderPid === undefined ? undefined : stack.use(rulesOfNode(host, network, served));
  const update = (): void => {
    rules.update();
    nodeRules?.update();
  };
  const informers = policyInformers(stack, host, transport, update);
  const synced = Promise.all([informers.pods.synced, informers.namespaces.synced, informers.policies.synced]);
  const owned = stack.move();
  return {
    network,
    dnsSockets: sockets,
    proxy: {
      listenAddress: hostAddress,
      connect: (...to) => network.connect(...to),
      mirroredPods: network.podCidr,
      node: proxiedNode({ pods }, network),
    },
    update,
    synced,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface PolicyInformers {
  readonly pods: KindInformer<Pod>;
  readonly namespaces: KindInformer<Namespace>;
  readonly policies: KindInformer<NetworkPolicy>;
}

function policyInformers(
  stack: AsyncDisposableStack,
  host: Host,
  transport: Transport,
  onChange: () => void,
): PolicyInformers {
  const client = createNodeClient(transport, host);
  return {
    pods: stack.use(new KindInformer({ client, host, kind: Pod, onChange })),
    namespaces: stack.use(new KindInformer({ client, host, kind: Namespace, onChange })),
    policies: stack.use(new KindInformer({ client, host, kind: NetworkPolicy, onChange })),
  };
}

/** Those of other nodes by what their status says; those of this node are known before that. */
function allPods(pods: Iterable<Pod>, own: readonly PodAddress[]): PodAddress[] {
  const known = new Set(own.map(({ address }) => address));
  const others = [...pods].flatMap((pod) => podAddress(pod, pod.status?.podIP) ?? []);
  return [...own, ...others.filter(({ address }) => !known.has(address))];
}

/** At 127.0.0.1 too, where people look first: the first node of the machine has the port there. */
function proxiedNode({ pods }: Pick<NodeNetworkOptions, "pods">, network: PodNetwork): ProxiedNode {
  return {
    address: network.nodeAddress,
    hostAddresses: [network.hostAddress, "127.0.0.1"],
    pods: () => placedPods(pods(), network),
  };
}

/** Those in the namespace of the node itself. */
function rulesOfNode(
  { clock, log }: Host,
  { nodeAddress, nodeHolderPid: holderPid = 0 }: PodNetwork,
  served: () => { services: readonly ServedPort[]; hostPorts: readonly ServedPort[] },
): NodeRules {
  return new NodeRules({
    clock,
    log,
    compile: () => nodeNamespaceRules({ nodeAddress, ...served() }),
    apply: (text, before) => applyRules({ holderPid, isRootless: false }, replaceTable("setpoint-node", before, text)),
  });
}

function placedPods(
  pods: readonly Pod[],
  network: Pick<PodNetwork, "addressOf">,
): readonly { readonly pod: Pod; readonly address: string }[] {
  return pods.map((pod) => ({ pod, address: network.addressOf(podIdentity(pod).uid) }));
}
