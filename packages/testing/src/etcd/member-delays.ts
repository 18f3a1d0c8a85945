/** How slow members' disks are, and how far apart members are, as their metrics show it. */
import type { SimulatedMeasurements } from "./etcd-answers.ts";
import type { EtcdMember } from "./etcd-member.ts";

/** How often etcd probes a peer. */
const probeMs = 30_000;

export class MemberDelays {
  /** By the name of the member. */
  readonly #distances = new Map<string, number>();
  readonly #disks = new Map<string, number>();

  slowDisk(name: string, milliseconds: number): void {
    this.#disks.set(name, milliseconds);
  }

  farAway(name: string, milliseconds: number): void {
    this.#distances.set(name, milliseconds);
  }

  /** What a member has measured at a moment. `peers` are the other members of its cluster. */
  measure(member: EtcdMember, peers: readonly EtcdMember[], nowMs: number): SimulatedMeasurements {
    const logWrites = member.logWrites(this.#disks.get(member.name) ?? 0);
    const count = Math.floor(nowMs / probeMs);
    const roundTrips = peers.flatMap(({ hasData, name, data }) => {
      if (!hasData) return [];
      const tookMs = Math.max(1, ...[name, member.name].map((each) => this.#distances.get(each) ?? 0));
      return [{ peerId: data.memberId, count, seconds: (count * tookMs) / 1_000 }];
    });
    return { logWrites, roundTrips };
  }
}
