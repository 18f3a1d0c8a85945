import { connectOnHost } from "./loopback-network.ts";
import type { PodNetwork } from "./pod-network.ts";

/** A network of one pod. */
export function fixedNetwork(nodeAddress: string, podAddress: string): PodNetwork {
  return {
    kind: "loopback",
    nodeAddress,
    hostAddress: nodeAddress,
    podCidr: "",
    addressOf: () => podAddress,
    release() {},
    retain() {},
    attach: async () => {},
    detach: async () => {},
    connect: connectOnHost,
    connectInside: (_podUid, ...to) => connectOnHost(podAddress, ...to),
    inject: () => Promise.reject(new Error("no faults here")),
  };
}
