/** Asks the peers for the primary's lease, again and again while this instance is the primary. */
import type { DesiredInstance, LeaseAnswer, LeaseRequest, Peer } from "../instance/instance-protocol.ts";
import type { InstanceManager } from "./instance-manager.ts";
import type { ManagerClock } from "./manager-clock.ts";

/** Three tries in one lease. */
const askEveryMs = 1_000;

export interface LeaseKeeperOptions {
  readonly manager: InstanceManager;
  readonly clock: ManagerClock;
  readonly askPeer: AskPeer;
}

/** Rejects when the peer gives no answer in time. */
export type AskPeer = (peer: Peer, request: LeaseRequest, signal: AbortSignal) => Promise<LeaseAnswer>;

export async function keepLease(options: LeaseKeeperOptions, signal: AbortSignal): Promise<void> {
  const { manager, clock } = options;
  while (!signal.aborted) {
    const { desired } = manager;
    if (desired?.primary === manager.name) await askPeers(desired, options, signal);
    await clock.sleep(askEveryMs, signal);
  }
}

/** A peer that gives no answer grants nothing. */
async function askPeers(
  { term, peers }: DesiredInstance,
  { manager, clock, askPeer }: LeaseKeeperOptions,
  signal: AbortSignal,
): Promise<void> {
  const { name: holder } = manager;
  const ask = async (peer: Peer): Promise<void> => {
    const askedMs = clock.monotonic();
    const answer = await askPeer(peer, { holder, term }, signal);
    if (answer.isGranted && manager.desired?.term === term) manager.grantedByPeer(peer.name, askedMs);
  };
  await Promise.allSettled(peers.filter(({ name }) => name !== holder).map(ask));
}
