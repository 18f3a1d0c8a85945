/**
 * Pods with network namespaces of their own. All those of a cluster are joined by one more namespace, which
 * routes between them and has no way out: no interface of the host is in it. Each pod hangs on a pair of
 * interfaces of its own, so that every packet passes the rules of the cluster's namespace, also between pods
 * of one node.
 */
import { messageOf } from "@setpoint/apimachinery";
import { nodeError } from "../errors.ts";
import { type AddressBlock, type AddressBlockOptions, blockBits, claimAddressBlock } from "./address-block.ts";
import { gatewayAddress } from "./base-rules.ts";
import { injectFault } from "./inject-fault.ts";
import { type HolderOptions, holdNamespace, type NetworkNamespace } from "./namespace-holder.ts";
import type { NamespaceSockets } from "./namespace-sockets.ts";
import { agentAddressInside, interfaceName, podNetworkAddress } from "./pod-addresses.ts";
import type { PodNetwork } from "./pod-network.ts";
import type { PodSockets } from "./pod-sockets.ts";
import { readIn, runIn } from "./run-in-namespace.ts";

export interface NamespaceNetworkOptions extends AddressBlockOptions {
  readonly namespace: NetworkNamespace;
  readonly sockets: NamespaceSockets;
  readonly podSockets: PodSockets;
  /** Resolves when the rules for the pod's address are in force: before that it gets no interface. */
  readonly ensureRules: () => Promise<void>;
  /** Present: the node has a network namespace of its own, for pods with `hostNetwork`. */
  readonly nodeNamespace?: Required<HolderOptions> | undefined;
}

/** Claims a block and puts the node's addresses into the cluster's namespace. Throws `ERR_NETWORK`. */
export async function createNamespaceNetwork(options: NamespaceNetworkOptions): Promise<PodNetwork> {
  const block = await claimAddressBlock(options);
  const network = new NamespaceNetwork(options, block);
  const agent = agentAddressInside(network.podCidr);
  await runIn(options.namespace, ["ip", "addr", "replace", `${agent}/32`, "dev", "lo"]);
  await network.placeNode();
  return network;
}

class NamespaceNetwork implements PodNetwork {
  readonly kind = "namespace";
  readonly nodeAddress: string;
  readonly hostAddress: string;
  readonly podCidr: string;
  nodeHolderPid?: number;
  readonly #options: NamespaceNetworkOptions;
  readonly #block: AddressBlock;
  /** Pods that this agent has attached, and by which process: asking again costs nothing. */
  readonly #attached = new Map<string, number>();

  constructor(options: NamespaceNetworkOptions, block: AddressBlock) {
    this.#options = options;
    this.#block = block;
    this.nodeAddress = podNetworkAddress(block.nodeAddress);
    this.hostAddress = block.nodeAddress;
    this.podCidr = `${podNetworkAddress(block.podCidr.replace(/\/\d+$/, ""))}/${blockBits}`;
  }

  /** Without a namespace of the node, its address is one of the cluster's, where nothing listens. */
  async placeNode(): Promise<void> {
    const { namespace, nodeNamespace } = this.#options;
    const onLoopback = (what: string): readonly string[] => ["ip", "addr", what, `${this.nodeAddress}/32`, "dev", "lo"];
    if (nodeNamespace === undefined) {
      await this.#remove(this.nodeAddress);
      return runIn(namespace, onLoopback("replace"));
    }
    const { holderPid } = await holdNamespace(nodeNamespace);
    await runIn(namespace, onLoopback("del")).catch((error: unknown) => {
      if (!/Cannot assign requested address|Address not found/.test(messageOf(error))) throw error;
    });
    await this.#attach(this.nodeAddress, holderPid);
    await runIn({ holderPid, isRootless: false }, ["sh", "-ec", nodeScript]);
    this.nodeHolderPid = holderPid;
  }

  addressOf(podUid: string): string {
    return podNetworkAddress(this.#block.addressOf(podUid));
  }

  release(podUid: string): void {
    this.#block.release(podUid);
  }

  retain(podUids: ReadonlySet<string>): void {
    this.#block.retain(podUids);
  }

  async attach(podUid: string, holderPid: number): Promise<void> {
    if (this.#attached.get(podUid) === holderPid) return;
    await this.#options.ensureRules();
    await this.#attach(this.addressOf(podUid), holderPid);
    this.#attached.set(podUid, holderPid);
  }

  async #attach(address: string, holderPid: number): Promise<void> {
    const pod = { holderPid, isRootless: this.#options.namespace.isRootless };
    try {
      await this.#join(pod, address);
    } catch {
      // An agent before this one attached it, or left an interface of the name behind.
      if (await this.#isAttached(pod, address)) return;
      await this.#remove(address);
      // Its other end is not known by this address when that agent had another block.
      await deleteLink(pod, "eth0");
      await this.#join(pod, address);
    }
  }

  async #join(pod: NetworkNamespace, address: string): Promise<void> {
    await runIn(this.#options.namespace, ["ip", "-batch", "-"], this.#hostSide(address, pod.holderPid));
    await runIn(pod, ["sh", "-ec", podScript], podSide(address));
  }

  async detach(podUid: string): Promise<void> {
    this.#attached.delete(podUid);
    await this.#options.podSockets.forget(podUid);
    if (this.#block.has(podUid)) await this.#remove(this.addressOf(podUid));
  }

  connect(address: string, port: number, signal?: AbortSignal): ReturnType<PodNetwork["connect"]> {
    return this.#options.sockets.connect(address, port, signal);
  }

  async connectInside(podUid: string, port: number, signal?: AbortSignal): ReturnType<PodNetwork["connectInside"]> {
    const holderPid = this.#attached.get(podUid);
    if (holderPid === undefined) throw nodeError("ERR_NETWORK", "Cannot connect to the pod: it has no network yet");
    const { namespace, podSockets } = this.#options;
    return podSockets.connect(podUid, { holderPid, isRootless: namespace.isRootless }, port, signal);
  }

  inject(fault: Parameters<PodNetwork["inject"]>[0]): Promise<AsyncDisposable> {
    return injectFault(this.#options.namespace, fault);
  }

  async #isAttached(pod: NetworkNamespace, address: string): Promise<boolean> {
    try {
      const [inside] = await Promise.all([
        readIn(pod, ["ip", "-oneline", "addr", "show", "dev", "eth0", "up"]),
        readIn(this.#options.namespace, ["ip", "link", "show", "dev", interfaceName(address)]),
      ]);
      return inside.includes(` ${address}/32 `);
    } catch {
      return false;
    }
  }

  async #remove(address: string): Promise<void> {
    await deleteLink(this.#options.namespace, interfaceName(address));
  }

  #hostSide(address: string, holderPid: number): string {
    const name = interfaceName(address);
    return [
      `link add ${name} type veth peer name eth0 netns ${holderPid}`,
      `link set ${name} up`,
      `route replace ${address}/32 dev ${name} src ${agentAddressInside(this.podCidr)}`,
      "",
    ].join("\n");
  }
}

/** Deletes both ends of a pair; does nothing when it is gone. */
async function deleteLink(namespace: NetworkNamespace, name: string): Promise<void> {
  await runIn(namespace, ["ip", "link", "del", name]).catch((error: unknown) => {
    if (!messageOf(error).includes("Cannot find device")) throw error;
  });
}

/** Programs may listen on every port, whatever their user, because the namespace is theirs alone. */
const podScript = [
  "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 || true",
  "echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start",
  "echo '0 2147483647' > /proc/sys/net/ipv4/ping_group_range || true",
  "exec ip -batch -",
].join("\n");

/** A program reaches ports of pods at 127.0.0.1 too. */
const nodeScript = "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet";

function podSide(address: string): string {
  return [
    "link set lo up",
    `addr replace ${address}/32 dev eth0`,
    "link set eth0 up",
    `route replace ${gatewayAddress} dev eth0 scope link`,
    `route replace default via ${gatewayAddress} dev eth0 src ${address}`,
    "",
  ].join("\n");
}
