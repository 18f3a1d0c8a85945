import type { DaemonSet, Node } from "@setpoint/api";
import { matchesNodeSelector } from "../scheduler/filters/node-affinity.ts";
import { isTolerated } from "../scheduler/filters/taints.ts";
import { daemonTolerations } from "./daemon-pod.ts";

/** Whether a node should have a pod of the set, and whether one that it has may stay. */
export interface NodeVerdict {
  readonly shouldRun: boolean;
  readonly mayStay: boolean;
}

/** A pod that does not tolerate `NoSchedule` stays where it runs already; `NoExecute` ends it. Pure. */
export function nodeVerdict({ spec: { template } }: DaemonSet, node: Node): NodeVerdict {
  const { spec } = template;
  const isNamed = (spec?.nodeName ?? "") === "" || spec?.nodeName === node.metadata.name;
  if (spec === undefined || !isNamed || !matchesNodeSelector({ spec }, node))
    return { shouldRun: false, mayStay: false };
  const tolerations = daemonTolerations(template);
  const untolerated = (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint, tolerations));
  return {
    shouldRun: untolerated.every(({ effect }) => effect === "PreferNoSchedule"),
    mayStay: untolerated.every(({ effect }) => effect !== "NoExecute"),
  };
}
