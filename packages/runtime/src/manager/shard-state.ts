import { slotCount } from "../coordination/slots.ts";
import type { ManagerLease } from "./manager-lease.ts";
import type { ShardState } from "./manager-options.ts";

export function shardStateOf(lease: ManagerLease): ShardState | undefined {
  if (lease.kind !== "sharded") return undefined;
  const { identity } = lease;
  const { view } = lease.holder;
  if (view === undefined) return { identity, epoch: 0, members: [], share: 0, runnableShare: 0 };
  const { epoch, members, owned, runnable } = view;
  return { identity, epoch, members, share: shareOf(owned), runnableShare: shareOf(runnable) };
}

function shareOf(slots: Uint8Array): number {
  return slots.reduce((sum, each) => sum + each, 0) / slotCount;
}
