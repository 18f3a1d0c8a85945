import { slotCount } from "../sharding/slots.ts";
import type { ManagerTenure } from "./create-tenure.ts";
import type { ShardState } from "./manager-options.ts";

export function shardStateOf(tenure: ManagerTenure): ShardState | undefined {
  if (tenure.kind !== "sharded") return undefined;
  const { identity } = tenure;
  const { view } = tenure.tenure;
  if (view === undefined) return { identity, epoch: 0, members: [], share: 0, runnableShare: 0 };
  const { epoch, members, owned, runnable } = view;
  return { identity, epoch, members, share: shareOf(owned), runnableShare: shareOf(runnable) };
}

function shareOf(slots: Uint8Array): number {
  return slots.reduce((sum, each) => sum + each, 0) / slotCount;
}
