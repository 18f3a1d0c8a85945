/**
 * What of a spec is built into a member's pod for good, so that a change of it needs another pod. What the
 * operator itself decides about pods is no part of it: after an upgrade of the operator, members go on in the
 * pods that an earlier release made, and get the new form with the next restart that they need anyway.
 */
import type { Pod } from "setpoint/kinds";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { tunedOptions } from "./tuned-options.ts";
import { labels, shortHash } from "../kind/member-names.ts";
import { hasSettings } from "./pod-settings.ts";

/**
 * Changes with what a user sets for members. Labels and annotations are no reason to restart etcd, and an
 * image changes in place.
 */
export function templateHash(cluster: EtcdCluster): string {
  const { spec } = cluster;
  const { labels: _, annotations: __, ...pod } = spec.pod ?? {};
  return shortHash(JSON.stringify(sorted({ pod, options: { ...tunedOptions(cluster), ...spec.options } })));
}

/**
 * An earlier release wrote no hash, or computed it in another way: then the pod itself shows whether it has
 * the settings. A pod with our hash is up to date whatever others have changed in it, so that no member
 * restarts for ever.
 */
export function isOutdated(cluster: EtcdCluster, pod: Pod | undefined): boolean {
  if (isToRestart(cluster, pod)) return true;
  if (pod === undefined || pod.metadata.annotations?.[labels.template] === templateHash(cluster)) return false;
  return !hasSettings(cluster, pod);
}

/** Whether a user or an Operation has asked for a restart since the pod was made. */
function isToRestart({ metadata }: EtcdCluster, pod: Pod | undefined): boolean {
  const request = metadata.annotations?.[labels.restart];
  return pod !== undefined && request !== undefined && pod.metadata.annotations?.[labels.restart] !== request;
}

/** The same whatever the order of fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]));
}
