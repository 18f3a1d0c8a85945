/** Asks the peers for the primary's lease, again and again while this instance is the primary. */
import type { LeaseAnswer, LeaseRequest, Peer } from "../instance/instance-protocol.ts";
import type { InstanceManager } from "./instance-manager.ts";
import type { ManagerClock } from "./manager-clock.ts";

/** Several tries in one lease. */
const askEveryMs = 700;
/** A lease counts from the question, so an answer that comes later is of little use. */
export const peerMsMax = 2_000;

export interface LeaseKeeperOptions {
  readonly manager: InstanceManager;
  readonly clock: ManagerClock;
  readonly askPeer: AskPeer;
}

/** Rejects when the peer gives no answer in time. */
export type AskPeer = (peer: Peer, request: LeaseRequest, signal: AbortSignal) => Promise<LeaseAnswer>;

/** Each peer has its own round, so that one that does not answer delays no other. */
export async function keepLease(options: LeaseKeeperOptions, signal: AbortSignal): Promise<void> {
  const { manager, clock } = options;
  const asked = new Set<string>();
  while (!signal.aborted) {
    const { desired, name } = manager;
    const peers = desired?.primary === name ? desired.peers.filter((peer) => peer.name !== name) : [];
    for (const peer of peers) {
      if (desired === undefined || asked.has(peer.name)) continue;
      asked.add(peer.name);
      void askOne(peer, desired.term, options, signal).finally(() => asked.delete(peer.name));
    }
    await clock.sleep(askEveryMs, signal);
  }
}

/** A peer that gives no answer grants nothing. */
async function askOne(
  peer: Peer,
  term: number,
  { manager, clock, askPeer }: LeaseKeeperOptions,
  signal: AbortSignal,
): Promise<void> {
  const askedMs = clock.monotonic();
  const answer = await askPeer(peer, { holder: manager.name, term }, signal).catch(() => undefined);
  if (answer?.isGranted === true && manager.desired?.term === term) manager.grantedByPeer(peer.name, askedMs);
}
