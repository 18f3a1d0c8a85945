/** What a DaemonSet's controller sees: facts, no decisions. */
import type { DaemonSet, Node, Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { isReady, untilAvailableMs } from "../pod-state.ts";
import { revisionHashLabel } from "../revisions/template-history.ts";
import { targetNode } from "./daemon-pod.ts";
import { nodeVerdict } from "./node-verdict.ts";

/** One pod of a DaemonSet. */
export interface SeenPod {
  readonly pod: Stored<Pod>;
  /** Whether it runs the present template. */
  readonly updated: boolean;
  readonly terminating: boolean;
  readonly failed: boolean;
  readonly succeeded: boolean;
  /** Until a failed pod may be replaced; 0 when it may. */
  readonly untilRetryMs: number;
  readonly ready: boolean;
  /** Until a ready pod counts as available; 0 when it does, undefined when it is not ready. */
  readonly untilAvailableMs: number | undefined;
}

/** One node, with the pods of the DaemonSet on it. */
export interface SeenNode {
  readonly name: string;
  /** Whether it should have a pod. */
  readonly shouldRun: boolean;
  /** Whether a pod that it has may stay. */
  readonly mayStay: boolean;
  /** Bound ones first, then the oldest first. */
  readonly pods: readonly SeenPod[];
}

/** One pass's view of a DaemonSet. */
export interface Seen {
  readonly set: Stored<DaemonSet>;
  readonly nodes: readonly SeenNode[];
  /** Pods that wait for a node that is not there. */
  readonly strays: readonly SeenPod[];
}

/** What a view is made of. */
export interface Observed {
  readonly set: Stored<DaemonSet>;
  readonly nodes: readonly Stored<Node>[];
  readonly pods: readonly Stored<Pod>[];
  /** The hash of the present template. */
  readonly hash: string;
  readonly nowMs: number;
  readonly untilRetryMs: (node: string) => number;
}

export function see(observed: Observed): Seen {
  const { set, nodes, pods } = observed;
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const byNode = Map.groupBy(pods, (pod) => targetNode(pod) ?? "");
  const isStray = (pod: Stored<Pod>): boolean => (pod.spec?.nodeName ?? "") === "" && !names.has(targetNode(pod) ?? "");
  return {
    set,
    nodes: nodes.map((node) => {
      const { name } = node.metadata;
      const own = (byNode.get(name) ?? []).toSorted(bySeniority).map((pod) => seePod(pod, name, observed));
      return { name, ...nodeVerdict(set, node), pods: own };
    }),
    strays: pods.filter(isStray).map((pod) => seePod(pod, "", observed)),
  };
}

function bySeniority(a: Stored<Pod>, b: Stored<Pod>): number {
  const isBound = (pod: Pod): number => ((pod.spec?.nodeName ?? "") === "" ? 1 : 0);
  const rank = (pod: Pod): string => `${isBound(pod)} ${pod.metadata.creationTimestamp ?? ""} ${pod.metadata.name}`;
  return rank(a) < rank(b) ? -1 : 1;
}

function seePod(pod: Stored<Pod>, node: string, { set, hash, nowMs, untilRetryMs }: Observed): SeenPod {
  const failed = pod.status?.phase === "Failed";
  return {
    pod,
    updated: pod.metadata.labels?.[revisionHashLabel] === hash,
    terminating: pod.metadata.deletionTimestamp !== undefined,
    failed,
    succeeded: pod.status?.phase === "Succeeded",
    untilRetryMs: failed ? untilRetryMs(node) : 0,
    ready: isReady(pod),
    untilAvailableMs: untilAvailableMs(pod, set.spec.minReadySeconds ?? 0, nowMs),
  };
}
