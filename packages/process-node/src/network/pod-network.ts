import type { Socket } from "node:net";

/** Something wrong with the network on purpose, between pods given by their addresses. */
export type NetworkFault =
  /**
   * No packet passes between the two addresses; without `to` none passes between the address and any other.
   */
  | { readonly kind: "partition"; readonly from: string; readonly to?: string }
  /** A packet between the addresses is lost with this probability, in percent. */
  | { readonly kind: "loss"; readonly from: string; readonly to?: string; readonly percent: number }
  /** Every packet that reaches the address comes late. */
  | { readonly kind: "delay"; readonly to: string; readonly delayMs: number };

/** Where pods get their addresses from, and how they and this node reach each other. */
export interface PodNetwork {
  /**
   * `namespace`: every pod has a network namespace of its own, and only this node's agent reaches it from the
   * host. `loopback`: pods share the network namespace of the host, on loopback addresses of their own.
   */
  readonly kind: "namespace" | "loopback";
  /** The node's own address for the pods of the cluster. */
  readonly nodeAddress: string;
  /** Its address on the host, where its kubelet server listens. */
  readonly hostAddress: string;
  /**
   * A process in the network namespace of the node, which pods with `hostNetwork` join; absent where
   * it is the host's.
   */
  readonly nodeHolderPid?: number;
  /** The pod range of this node, as in Node.spec.podCIDR. */
  readonly podCidr: string;
  /** The pod's address; the same one whenever it is asked, also after a restart of the agent. */
  addressOf(podUid: string): string;
  release(podUid: string): void;
  /** Forgets the addresses of pods that are not in `podUids`. */
  retain(podUids: ReadonlySet<string>): void;
  /**
   * Gives the network namespace of process `holderPid` the pod's interface, address and routes. May be called
   * again for a pod that has them. Does nothing on the loopback network. Throws `ERR_NETWORK`.
   */
  attach(podUid: string, holderPid: number): Promise<void>;
  /** Takes the pod's interface away; does nothing when it is gone with its namespace. */
  detach(podUid: string): Promise<void>;
  /** A TCP connection into the pod network; rejects when it is refused or the signal is aborted. */
  connect(address: string, port: number, signal?: AbortSignal): Promise<Socket>;
  /**
   * A TCP connection to a program that listens on the pod's loopback address, as `kubectl port-forward` makes
   * one; on the loopback network, where pods share that address, to the pod's own. Rejects like `connect`,
   * and when the pod has no network.
   */
  connectInside(podUid: string, port: number, signal?: AbortSignal): Promise<Socket>;
  /**
   * Injects a fault until it is disposed. Throws `ERR_NETWORK_FAULT` with the reason when this host cannot
   * inject it.
   */
  inject(fault: NetworkFault): Promise<AsyncDisposable>;
}
