/** The running members of one cluster: who leads, who is in sync, and what is agreed. */
import type { Host, Timer } from "@setpoint/host";
import { minorOf } from "./etcd-arguments.ts";
import type { Change, EtcdData } from "./etcd-data.ts";

/** A running member, as its peers see it. */
export interface Peer {
  readonly data: EtcdData;
  readonly version: string;
  /** Since when its peers are connected to it. */
  readonly connectedSinceMs: number;
  /** It received the signal to stop and is about to. */
  readonly isStopping: boolean;
  /** Clients are answered. */
  readonly isServing: boolean;
  /**
   * It has the leader's whole log, for the first time since its start or restart, and a majority can commit.
   */
  synced(): void;
  /** It has learned that it is no member any more. */
  removed(): void;
  /** The leader that it knows has changed. */
  leaderChanged(): void;
}

/** etcd's default election timeout is a second, and the operator's measured 0.5–1 s. */
const electionMsMin = 500;
const electionMsMax = 1_000;
/** What a member that comes back takes to fetch what it has missed; a new one needs a snapshot. */
const catchUpMsMax = 60;
const snapshotMsMax = 600;

export const requestTimedOut = "etcdserver: request timed out";

/**
 * Guarantees: an entry is committed only when a majority of the voters has it. Only a majority of voters
 * elects a leader, and none of them has a newer log than the leader. When a majority loses its volumes,
 * committed entries are lost.
 */
export class QuorumGroup {
  readonly #host: Host;
  readonly #peers = new Set<Peer>();
  readonly #inSync = new Set<Peer>();
  #leader: Peer | undefined;
  /** What followers believe; it takes an election timeout to see that a leader is gone. */
  #knownLeaderId = "";
  #term = 0;
  #election: Timer | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  get leader(): Peer | undefined {
    return this.#leader;
  }

  get knownLeaderId(): string {
    return this.#knownLeaderId;
  }

  get peers(): readonly Peer[] {
    return [...this.#peers];
  }

  peer(id: string): Peer | undefined {
    for (const peer of this.#peers) if (peer.data.memberId === id) return peer;
    return undefined;
  }

  /** Whether the leader can agree on anything with those that are connected. */
  get hasQuorum(): boolean {
    const data = this.#leader?.data;
    if (data === undefined) return false;
    let count = 0;
    for (const { data: of } of this.#inSync) if (data.isVoter(of.memberId)) count++;
    return count >= data.quorum;
  }

  join(peer: Peer): void {
    this.#peers.add(peer);
    if (this.#leader === undefined) this.#electSoon();
    else this.#syncSoon(peer);
  }

  leave(peer: Peer): void {
    this.#peers.delete(peer);
    this.#inSync.delete(peer);
    if (this.#leader === peer) this.#leader = undefined;
    if (!this.hasQuorum) this.#electSoon();
  }

  /** Agrees on a change, or throws in etcd's words. */
  propose(change: Change): void {
    if (this.#leader === undefined || !this.hasQuorum) throw new Error(requestTimedOut);
    for (const { data } of this.#inSync) data.apply(change, this.#term);
    if (change.kind === "remove") this.#dismiss(change.id);
    if (change.kind === "promote" || change.kind === "publish" || change.kind === "add") this.#raiseVersion();
  }

  /** The leader hands over. */
  transfer(to: Peer): void {
    this.#lead(to);
  }

  /** A voter other than the leader that could lead at once. */
  get heir(): Peer | undefined {
    const data = this.#leader?.data;
    return data === undefined
      ? undefined
      : this.#votersOf(data).find((peer) => peer !== this.#leader && this.#inSync.has(peer));
  }

  #votersOf(config: EtcdData): readonly Peer[] {
    return this.peers.filter(({ data }) => config.isVoter(data.memberId));
  }

  #dismiss(id: string): void {
    const peer = this.peer(id);
    if (peer === undefined) return;
    this.leave(peer);
    peer.removed();
  }

  #electSoon(): void {
    if (this.#election !== undefined) return;
    const delayMs = electionMsMin + this.#host.random.int(electionMsMax - electionMsMin);
    this.#election = this.#host.clock.setTimer(() => {
      this.#election = undefined;
      if (!this.hasQuorum) this.#elect();
    }, delayMs);
  }

  #elect(): void {
    const candidates = this.peers.filter((peer) => this.#canWin(peer));
    const winner = candidates[this.#host.random.int(Math.max(candidates.length, 1))];
    if (winner !== undefined) return this.#lead(winner);
    // A leader without a majority steps down; the next one that joins tries again.
    this.#leader = undefined;
    this.#tell("");
  }

  #canWin(candidate: Peer): boolean {
    const { data } = candidate;
    if (!data.isVoter(data.memberId)) return false;
    return this.#votersOf(data).filter((voter) => data.isUpToDate(voter.data)).length >= data.quorum;
  }

  #lead(winner: Peer): void {
    this.#leader = winner;
    this.#term = Math.max(this.#term, winner.data.term) + 1;
    // Those with the same log follow at once: a new term needs a majority that has its first entry.
    this.#inSync.clear();
    for (const peer of this.#peers) if (peer === winner || hasSameLog(peer.data, winner.data)) this.#inSync.add(peer);
    for (const { data } of this.#inSync) data.apply({ kind: "noop" }, this.#term);
    for (const peer of this.#peers) if (!this.#inSync.has(peer)) this.#syncSoon(peer);
    this.#tell(winner.data.memberId);
    if (this.hasQuorum) for (const peer of this.#inSync) peer.synced();
    this.#raiseVersion();
  }

  #tell(leaderId: string): void {
    this.#knownLeaderId = leaderId;
    for (const peer of this.#peers) peer.leaderChanged();
  }

  #syncSoon(peer: Peer): void {
    const { clock, random } = this.#host;
    const delayMs = random.int(peer.data.index === 0 ? snapshotMsMax : catchUpMsMax);
    clock.setTimer(() => this.#sync(peer), delayMs);
  }

  #sync(peer: Peer): void {
    const leader = this.#leader;
    if (leader === undefined || !this.#peers.has(peer) || this.#inSync.has(peer)) return;
    if (leader.data.removed.has(peer.data.memberId)) return this.#dismiss(peer.data.memberId);
    peer.data.follow(leader.data);
    this.#inSync.add(peer);
    peer.leaderChanged();
    this.#serve(peer);
    this.#raiseVersion();
  }

  /**
   * A starting member publishes itself before it serves any client, and retries until a majority commits
   * that.
   */
  #serve(peer: Peer): void {
    if (!this.hasQuorum) return;
    for (const each of this.#inSync) if (each === peer || !each.isServing) each.synced();
  }

  /** The leader raises the cluster's version when all members run a higher one. */
  #raiseVersion(): void {
    const data = this.#leader?.data;
    if (data === undefined || !this.hasQuorum) return;
    const running = [...data.members.keys()].map((id) => this.peer(id));
    const lowest = Math.min(...running.map((peer) => (peer === undefined ? 0 : minorOf(peer.version))));
    if (lowest > data.clusterMinor) this.propose({ kind: "raise", clusterMinor: lowest });
  }
}

function hasSameLog(a: EtcdData, b: EtcdData): boolean {
  return a.index === b.index && a.term === b.term;
}
