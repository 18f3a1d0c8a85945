/**
 * Pods on addresses of the host's loopback interface: nothing must be configured and no right is needed, and
 * nothing separates the pods from each other or from the host's other programs. For hosts that allow no
 * network namespaces.
 */
import { connect, type Socket } from "node:net";
import { nodeError } from "../errors.ts";
import { type AddressBlockOptions, claimAddressBlock } from "./address-block.ts";
import type { PodNetwork } from "./pod-network.ts";

export async function createLoopbackNetwork(options: AddressBlockOptions): Promise<PodNetwork> {
  const block = await claimAddressBlock(options);
  return {
    kind: "loopback",
    nodeAddress: block.nodeAddress,
    hostAddress: block.nodeAddress,
    podCidr: block.podCidr,
    addressOf: (uid) => block.addressOf(uid),
    release: (uid) => block.release(uid),
    retain: (uids) => block.retain(uids),
    attach: async () => {},
    detach: async () => {},
    connect: connectOnHost,
    connectInside: (podUid, ...to) => connectOnHost(block.addressOf(podUid), ...to),
    inject: ({ kind }) =>
      Promise.reject(
        nodeError(
          "ERR_NETWORK_FAULT",
          `Cannot inject a ${kind}: pods of this node share the host's network; a host that allows network namespaces is needed`,
        ),
      ),
  };
}

/** Connects from the host's own network namespace. */
export function connectOnHost(host: string, port: number, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true, ...(signal === undefined ? {} : { signal }) });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
