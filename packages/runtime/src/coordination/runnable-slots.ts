import type { SeenGroup } from "./shard-record.ts";
import { assignSlots, slotCount } from "./slots.ts";

/** Who owns what, as one member sees it. */
export interface ShardView {
  readonly epoch: number;
  readonly members: readonly string[];
  /** 1 for each slot that is ours in this epoch. */
  readonly owned: Uint8Array;
  /** 1 for each owned slot that no earlier owner may still be working on. */
  readonly runnable: Uint8Array;
}

/**
 * A member may run a slot that it owns when each owner in earlier epochs has released it or is dead. It has
 * released it when it has acknowledged a later epoch. It is dead when its Lease is gone, and other members
 * can only remove a Lease that is over.
 */
export function viewOf({ epochs, members }: SeenGroup, uid: string): ShardView | undefined {
  const newest = epochs.at(-1);
  if (newest === undefined || !newest.members.some((member) => member.uid === uid)) return undefined;
  const owned = slotsOf(newest.members, uid);
  const runnable = owned.slice();
  const acked = new Map(members.map((member) => [member.uid, member.acked]));
  for (const { epoch, members: then, isUnknown } of epochs.slice(0, -1)) {
    if (isUnknown === true) {
      if (then.some((former) => former.uid !== uid && (acked.get(former.uid) ?? Number.POSITIVE_INFINITY) <= epoch))
        runnable.fill(0);
      continue;
    }
    const owners = assignSlots(then);
    for (let slot = 0; slot < slotCount; slot++) {
      const former = then[owners[slot] ?? 0];
      if (former === undefined || former.uid === uid) continue;
      const letGoOf = acked.get(former.uid);
      if (letGoOf !== undefined && letGoOf <= epoch) runnable[slot] = 0;
    }
  }
  return { epoch: newest.epoch, members: newest.members.map(({ name }) => name), owned, runnable };
}

function slotsOf(members: SeenGroup["epochs"][number]["members"], uid: string): Uint8Array {
  const owners = assignSlots(members);
  const mine = members.findIndex((member) => member.uid === uid);
  return Uint8Array.from({ length: slotCount }, (_, slot) => (owners[slot] === mine ? 1 : 0));
}
