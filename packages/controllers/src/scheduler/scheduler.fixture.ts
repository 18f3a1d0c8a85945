/** A cluster in short, for tables of the scheduler. */
import { Node, Pod } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { placesFor, type ClusterView, type VolumeView } from "./cluster-view.ts";
import type { Filter } from "./filters/filter.ts";

type PodSpec = NonNullable<Pod["spec"]>;

let count = 0;

export function pod(spec: Partial<PodSpec> = {}, labels: Readonly<Record<string, string>> = {}): Stored<Pod> {
  const name = `pod-${++count}`;
  const stored = Pod({ name, namespace: "default", labels, spec: { containers: [], ...spec } });
  return { ...stored, metadata: { ...stored.metadata, uid: name } } as Stored<Pod>;
}

/** Asks for these amounts. */
export function asking(requests: Readonly<Record<string, string>>, spec: Partial<PodSpec> = {}): Stored<Pod> {
  return pod({ containers: [{ name: "main", resources: { requests } }], ...spec });
}

export function node(
  name: string,
  labels: Readonly<Record<string, string>> = {},
  spec: NonNullable<Node["spec"]> = {},
): Stored<Node> {
  const allocatable = { cpu: "2", memory: "4Gi", "ephemeral-storage": "10Gi", "example.com/gpu": "1", pods: "3" };
  const status = { allocatable, conditions: [{ type: "Ready", status: "True" as const }] };
  return { ...Node({ name, labels: { "kubernetes.io/hostname": name, ...labels }, spec }), status } as Stored<Node>;
}

/** The pods run on the nodes that their spec names. */
export function view(
  candidate: Stored<Pod>,
  nodes: readonly Stored<Node>[],
  pods: readonly Stored<Pod>[] = [],
  volumes?: VolumeView,
): ClusterView {
  const namespaceLabels = (name: string): Readonly<Record<string, string>> => ({ "kubernetes.io/metadata.name": name });
  return { places: placesFor(candidate, nodes, pods, new Map()), namespaceLabels, volumes };
}

/** What a filter finds on each node; `ok` where the pod fits. */
export function verdicts(filter: Filter, candidate: Stored<Pod>, cluster: ClusterView): readonly string[] {
  return cluster.places.map((place) => {
    const misfits = filter(candidate, place, cluster);
    return misfits.length === 0 ? "ok" : misfits.map(({ reason }) => reason).join(", ");
  });
}
