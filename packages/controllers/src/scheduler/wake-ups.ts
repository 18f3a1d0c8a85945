/** Which changes of the cluster may make a pending pod fit. */
import { Node, PersistentVolumeClaim, Pod } from "@setpoint/api";
import { deepEqual } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { keyOf, watching, type CacheReader, type WatchDefinition } from "@setpoint/runtime";
import { isFinished } from "../pod-state.ts";
import { claimNamesOf } from "./filters/volumes.ts";

/** What this scheduler has to place, and no node has yet. */
export function isPending(pod: Stored<Pod>): boolean {
  const { nodeName, schedulerName: wanted, schedulingGates = [] } = pod.spec ?? {};
  if (pod.metadata.deletionTimestamp !== undefined || isFinished(pod)) return false;
  return (nodeName ?? "") === "" && wanted === schedulerName && schedulingGates.length === 0;
}

export const schedulerName = "default-scheduler";

function pending(cache: CacheReader): readonly Stored<Pod>[] {
  return cache.list(Pod, { allNamespaces: true }).filter(isPending);
}

/** Most writes of a Node are heartbeats. */
export const nodeWakes: WatchDefinition<Node> = {
  of: Node,
  wakes: (_node, cache) => pending(cache).map(keyOf),
  predicate: (old, next) => !deepEqual(offered(old), offered(next)),
};

function offered({ metadata: { labels }, spec, status }: Stored<Node>): unknown {
  const ready = status?.conditions?.find((each) => each.type === "Ready")?.status;
  return { labels, spec, ready, allocatable: status?.allocatable };
}

/** A pod that ends leaves room; one that gets a node may be what another wants to be beside. */
export const podWakes: WatchDefinition<Pod> = {
  of: Pod,
  wakes: (pod, cache) =>
    (pod.spec?.nodeName ?? "") === ""
      ? []
      : pending(cache)
          .filter((each) => wasRefused(each))
          .map(keyOf),
  predicate: (old, next) =>
    isFinished(old) !== isFinished(next) ||
    old.spec?.nodeName !== next.spec?.nodeName ||
    !deepEqual(old.metadata.labels, next.metadata.labels),
};

function wasRefused({ status }: Stored<Pod>): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "PodScheduled" && is === "False") === true;
}

/** A claim wakes the pods that use it. */
export const claimWakes: WatchDefinition<PersistentVolumeClaim> = watching(PersistentVolumeClaim, (claim, cache) =>
  cache
    .list(Pod, { namespace: claim.metadata.namespace })
    .filter((pod) => isPending(pod) && claimNamesOf(pod).includes(claim.metadata.name))
    .map(keyOf),
);
