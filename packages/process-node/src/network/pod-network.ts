/** Where pods get their addresses from. */
export interface PodNetwork {
  /** The node's own address, on which its kubelet server listens. */
  readonly nodeAddress: string;
  /** The pod range of this node, as in Node.spec.podCIDR. */
  readonly podCidr: string;
  /** The pod's address; the same one whenever it is asked, also after a restart of the agent. */
  addressOf(podUid: string): string;
  release(podUid: string): void;
  /** Forgets the addresses of pods that are not in `podUids`. */
  retain(podUids: ReadonlySet<string>): void;
}
