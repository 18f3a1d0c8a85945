import type { Host } from "@setpoint/host";
import type { ClusterCell } from "./cluster-cell.ts";
import { leaseHolderOf, type ManagerLease } from "./manager-lease.ts";
import type { ManagerOptions } from "./manager-options.ts";
import { shardStateOf } from "./shard-state.ts";

/** Metrics of the whole manager, collected at each scrape. The returned function stops the collection. */
export function observeManager(
  host: Host,
  { leaderElection, sharding }: ManagerOptions,
  lease: ManagerLease,
  cells: () => readonly ClusterCell[],
): () => void {
  const { metrics } = host;
  return metrics.onExpose(() => {
    if (leaderElection !== undefined)
      metrics
        .gauge("leader_election_master_status", "Gauge of if the reporting system is master of the relevant lease.")
        .set(leaseHolderOf(lease)?.isHeld === true ? 1 : 0, { name: leaderElection.name });
    if (sharding !== undefined) tellShard(host, sharding.name, lease);
    for (const cell of cells()) tellCluster(host, cell);
  });
}

function tellShard({ metrics }: Host, group: string, lease: ManagerLease): void {
  const shard = shardStateOf(lease);
  if (shard === undefined) return;
  const tell = (name: string, help: string, value: number): void => metrics.gauge(name, help).set(value, { group });
  tell("setpoint_shard_epoch", "Changes of the group's membership that this member has followed.", shard.epoch);
  tell("setpoint_shard_members", "Members of the group.", shard.members.length);
  tell("setpoint_shard_owned_ratio", "The part of all keys that is this member's.", shard.share);
  tell("setpoint_shard_runnable_ratio", "The part of all keys that this member may run.", shard.runnableShare);
}

function tellCluster({ metrics }: Host, { name, isSynced }: ClusterCell): void {
  if (name === undefined) return;
  metrics
    .gauge("setpoint_cluster_synced", "Whether all caches of a cluster are complete.")
    .set(isSynced ? 1 : 0, { cluster: name });
}
