/** A pod that rather runs on another node; pure. */
import type { Pod } from "setpoint/kinds";

type Affinity = NonNullable<NonNullable<Pod["spec"]>["affinity"]>;

/** Above what a user prefers, and no more than a preference: a cluster with one node keeps its members. */
const weight = 100;

/** The pod with a preference for any other node than `node`. */
export function avoidingNode(pod: Pod, node: string | undefined): Pod {
  if (node === undefined) return pod;
  return { ...pod, spec: { ...pod.spec, affinity: withPreference(pod.spec?.affinity ?? {}, node) } } as Pod;
}

function withPreference(affinity: Affinity, node: string): Affinity {
  const { nodeAffinity = {} } = affinity;
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "NotIn" as const, values: [node] }];
  const preferred = nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferredDuringSchedulingIgnoredDuringExecution = [...preferred, { weight, preference: { matchExpressions } }];
  return { ...affinity, nodeAffinity: { ...nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution } };
}
