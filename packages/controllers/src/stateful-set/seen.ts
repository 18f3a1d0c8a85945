/** What a StatefulSet's controller sees: facts, no decisions. */
import type { Pod, StatefulSet } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { isFinished, isReady, untilAvailableMs } from "../pod-state.ts";
import { revisionHashLabel } from "../revisions/template-history.ts";

/** One pod of a StatefulSet. */
export interface SeenPod {
  readonly pod: Stored<Pod>;
  readonly ordinal: number;
  /** The name of the ControllerRevision whose template it runs. */
  readonly revision: string;
  readonly terminating: boolean;
  readonly finished: boolean;
  /** It has not started, perhaps for want of a claim. */
  readonly pending: boolean;
  readonly ready: boolean;
  /** Until a ready pod counts as available; 0 when it does. */
  readonly untilAvailableMs: number;
}

/** Ordinals by the state of their claims. */
export interface SeenClaims {
  /** A claim is being deleted: a pod must not start with data that are about to go. */
  readonly ending: ReadonlySet<number>;
  /** A claim is not there. */
  readonly missing: ReadonlySet<number>;
}

/** One pass's view of a StatefulSet. */
export interface Seen {
  readonly set: Stored<StatefulSet>;
  /** The ordinals that should have a pod, ascending. */
  readonly ordinals: readonly number[];
  /** All pods of the set, by ordinal, ascending. */
  readonly pods: readonly SeenPod[];
  readonly claims: SeenClaims;
  /** Names of revisions: of the pods below the partition, and of the present template. */
  readonly currentRevision: string;
  readonly updateRevision: string;
}

/** The ordinal in `web-2` of the set `web`; undefined for a name that is no pod of it. */
export function ordinalOf(setName: string, podName: string): number | undefined {
  const ordinal = podName.startsWith(`${setName}-`) ? podName.slice(setName.length + 1) : "";
  return /^(0|[1-9]\d*)$/.test(ordinal) ? Number(ordinal) : undefined;
}

export function seePods(set: Stored<StatefulSet>, pods: readonly Stored<Pod>[], nowMs: number): readonly SeenPod[] {
  return pods
    .flatMap((pod) => {
      const ordinal = ordinalOf(set.metadata.name, pod.metadata.name);
      return ordinal === undefined ? [] : [seePod(set, pod, ordinal, nowMs)];
    })
    .toSorted((a, b) => a.ordinal - b.ordinal);
}

function seePod(set: Stored<StatefulSet>, pod: Stored<Pod>, ordinal: number, nowMs: number): SeenPod {
  const ready = pod.status?.phase === "Running" && isReady(pod);
  return {
    pod,
    ordinal,
    revision: pod.metadata.labels?.[revisionHashLabel] ?? "",
    terminating: pod.metadata.deletionTimestamp !== undefined,
    finished: isFinished(pod),
    pending: (pod.status?.phase ?? "Pending") === "Pending",
    ready,
    untilAvailableMs: ready ? (untilAvailableMs(pod, set.spec?.minReadySeconds ?? 0, nowMs) ?? 0) : 0,
  };
}

/** The ordinals of a set, from `spec.ordinals.start` and `spec.replicas`. */
export function ordinalsOf({ spec }: StatefulSet): readonly number[] {
  const start = spec?.ordinals?.start ?? 0;
  return Array.from({ length: spec?.replicas ?? 1 }, (_, i) => start + i);
}
