/** What the scheduler sees of the cluster for one pod: facts, no decisions. */
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { isFinished } from "../pod-state.ts";
import type { AssumedBindings } from "./assumed-bindings.ts";
import { addTo, amountsOf, requestsOf, type Amounts } from "./amounts.ts";

/** A node and what runs there. */
export interface Place {
  readonly node: Stored<Node>;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pods: readonly Stored<Pod>[];
  readonly allocatable: Amounts;
  /** The sum of the requests of its pods. */
  readonly used: Amounts;
}

/** One pass's view of the cluster. */
export interface ClusterView {
  readonly places: readonly Place[];
  /** The labels of a namespace. */
  readonly namespaceLabels: (name: string) => Readonly<Record<string, string>>;
  /** Undefined in a cluster whose nodes bind claims themselves: then no claim keeps a pod away. */
  readonly volumes: VolumeView | undefined;
}

/** The volumes of a pod's namespace. */
export interface VolumeView {
  claim(name: string): Stored<PersistentVolumeClaim> | undefined;
  volume(name: string): Stored<PersistentVolume> | undefined;
  storageClass(name: string): Stored<StorageClass> | undefined;
}

/** Node names by pod, for pods that hold a place: bound ones, and those that are about to be. */
function nodeOf(pod: Stored<Pod>, assumed: AssumedBindings, nominatedFrom: number): string {
  const bound = pod.spec?.nodeName ?? assumed.get(pod.metadata.uid) ?? "";
  if (bound !== "") return bound;
  return (pod.spec?.priority ?? 0) >= nominatedFrom ? (pod.status?.nominatedNodeName ?? "") : "";
}

/**
 * The places for `pod`. A pod of at least its priority that waits for its victims to end holds its place
 * already.
 */
export function placesFor(
  pod: Stored<Pod>,
  nodes: readonly Stored<Node>[],
  pods: readonly Stored<Pod>[],
  assumed: AssumedBindings,
): readonly Place[] {
  const others = pods.filter((each) => each.metadata.uid !== pod.metadata.uid && !isFinished(each));
  const byNode = Map.groupBy(others, (each) => nodeOf(each, assumed, pod.spec?.priority ?? 0));
  return nodes.map((node) => placeOf(node, byNode.get(node.metadata.name) ?? []));
}

function placeOf(node: Stored<Node>, pods: readonly Stored<Pod>[]): Place {
  const { name, labels = {} } = node.metadata;
  return withPods(
    { node, name, labels, allocatable: amountsOf(node.status?.allocatable ?? {}), pods: [], used: {} },
    pods,
  );
}

/** The place with other pods. */
export function withPods(place: Place, pods: readonly Stored<Pod>[]): Place {
  const used: Record<string, number> = {};
  for (const pod of pods) addTo(used, requestsOf(pod));
  return { ...place, pods, used };
}
