/**
 * The network namespace of a cluster with the addresses and rules that all its pods share, made or found
 * again.
 */
import { type Clock } from "@setpoint/host";
import { baseAddresses, baseRules, baseSettings, type ClusterAddresses } from "./base-rules.ts";
import { type HolderOptions, holdNamespace, type NetworkNamespace } from "./namespace-holder.ts";
import { NamespaceSockets } from "./namespace-sockets.ts";
import { applyRules, runIn } from "./run-in-namespace.ts";

/** The addresses of the network, and where it is recorded. */
export interface ClusterNetworkOptions extends HolderOptions {
  readonly clock: Clock;
  readonly addresses: ClusterAddresses;
}

/** The network of a cluster whose pods have network namespaces. */
export interface ClusterNetwork extends AsyncDisposable {
  readonly namespace: NetworkNamespace;
  /** Opens sockets of this process inside. */
  readonly sockets: NamespaceSockets;
}

/**
 * Resolves when pods can be attached. Throws `ERR_NETWORK` with what the host lacks. Disposing it removes the
 * namespace and with it every interface of a pod.
 */
export async function openClusterNetwork(options: ClusterNetworkOptions): Promise<ClusterNetwork> {
  const holder = await holdNamespace(options);
  const sockets = new NamespaceSockets(holder);
  try {
    // The rules first: there is no moment in which pods are joined without them.
    await applyRules(holder, baseRules(options.addresses));
    const settings = baseSettings.map(([key, value]) => `echo ${value} > /proc/sys/${key} || true\n`).join("");
    await runIn(holder, ["sh", "-e"], `${settings}test "$(cat /proc/sys/net/ipv4/ip_forward)" = 1\n`);
    await runIn(holder, ["ip", "-batch", "-"], baseAddresses(options.addresses));
  } catch (error) {
    await sockets[Symbol.asyncDispose]();
    if (!holder.isAdopted) holder.remove();
    throw error;
  }
  return {
    namespace: { holderPid: holder.holderPid, isRootless: holder.isRootless },
    sockets,
    async [Symbol.asyncDispose]() {
      await sockets[Symbol.asyncDispose]();
      holder.remove();
    },
  };
}
