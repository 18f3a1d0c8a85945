/** What of a spec is built into a member's pod for good, so that a change of it needs another pod. */
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { labels, shortHash } from "../member-names.ts";

/**
 * Changes with what a user sets for members. Labels and annotations are no reason to restart etcd, and an
 * image changes in place.
 */
export function templateHash({ spec }: EtcdCluster): string {
  const { labels: _, annotations: __, ...pod } = spec.pod ?? {};
  return shortHash(JSON.stringify(sorted({ pod, options: spec.options ?? {} })));
}

/** Members that an earlier version of the operator made have no hash, and run with what was wanted then. */
export function isOutdated(cluster: EtcdCluster, pod: Pod | undefined): boolean {
  return pod !== undefined && pod.metadata.annotations?.[labels.template] !== templateHash(cluster);
}

/** The same whatever the order of fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]));
}
