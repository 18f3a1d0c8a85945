import type { Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import type { ClusterView, Place } from "../cluster-view.ts";

/** Why a pod may not run on a node, in upstream's words. */
export interface Misfit {
  readonly reason: string;
  /** Whether it may fit when other pods of the node are gone. */
  readonly preemptible: boolean;
}

/** Pure: what is wrong with a place for a pod; nothing when it fits. */
export type Filter = (pod: Stored<Pod>, place: Place, cluster: ClusterView) => readonly Misfit[];

/** No other pod's end helps. */
export function unfit(reason: string): readonly Misfit[] {
  return [{ reason, preemptible: false }];
}

/** It may fit when other pods have ended. */
export function occupied(reason: string): readonly Misfit[] {
  return [{ reason, preemptible: true }];
}
