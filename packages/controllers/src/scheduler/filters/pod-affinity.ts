/** Pods that want to be, or not to be, beside others; pure. */
import type { Pod } from "@setpoint/api";
import { matchesLabelSelector } from "@setpoint/apimachinery";
import type { ClusterView, Place } from "../cluster-view.ts";
import { type Filter, occupied, unfit } from "./filter.ts";

type Affinity = NonNullable<NonNullable<Pod["spec"]>["affinity"]>;
/** Which pods are meant, and which label of their nodes makes two nodes one place. */
export type PodAffinityTerm = NonNullable<
  NonNullable<Affinity["podAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
>[number];

/** Whether a term of a pod in the namespace `from` means the pod `other`. */
export function meansPod(term: PodAffinityTerm, from: string, other: Pod, cluster: ClusterView): boolean {
  const namespace = other.metadata.namespace ?? "";
  const { namespaces = [], namespaceSelector, labelSelector } = term;
  const isNamed =
    namespaces.length === 0 && namespaceSelector === undefined ? namespace === from : namespaces.includes(namespace);
  const isSelected =
    namespaceSelector !== undefined && matchesLabelSelector(namespaceSelector, cluster.namespaceLabels(namespace));
  return (
    (isNamed || isSelected) &&
    labelSelector !== undefined &&
    matchesLabelSelector(labelSelector, other.metadata.labels ?? {})
  );
}

/** The places that the topology makes one with `place`, itself among them; none when the label is missing. */
export function sharing(place: Place, topologyKey: string, cluster: ClusterView): readonly Place[] {
  const value = place.labels[topologyKey];
  return value === undefined ? [] : cluster.places.filter(({ labels }) => labels[topologyKey] === value);
}

function antiTermsOf({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function namespaceOf({ metadata }: Pod): string {
  return metadata.namespace ?? "";
}

export const podAffinityMatched: Filter = (pod, place, cluster) => {
  const terms = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length === 0) return [];
  const isMeant = (other: Pod): boolean => terms.every((term) => meansPod(term, namespaceOf(pod), other, cluster));
  const isBeside = terms.every(({ topologyKey }) =>
    sharing(place, topologyKey, cluster).some(({ pods }) => pods.some(isMeant)),
  );
  if (isBeside) return [];
  // The first of a group that wants to be together has nobody to be beside.
  const isFirst = isMeant(pod) && !cluster.places.some(({ pods }) => pods.some(isMeant));
  const hasKeys = terms.every(({ topologyKey }) => place.labels[topologyKey] !== undefined);
  return isFirst && hasKeys ? [] : unfit("node(s) didn't match pod affinity rules");
};

export const podAntiAffinityMatched: Filter = (pod, place, cluster) => {
  const isRejected = antiTermsOf(pod).some((term) =>
    sharing(place, term.topologyKey, cluster).some(({ pods }) =>
      pods.some((other) => meansPod(term, namespaceOf(pod), other, cluster)),
    ),
  );
  if (isRejected) return occupied("node(s) didn't match pod anti-affinity rules");
  const isRejecting = cluster.places.some(({ pods, labels }) =>
    pods.some((other) =>
      antiTermsOf(other).some(
        (term) =>
          place.labels[term.topologyKey] !== undefined &&
          labels[term.topologyKey] === place.labels[term.topologyKey] &&
          meansPod(term, namespaceOf(other), pod, cluster),
      ),
    ),
  );
  return isRejecting ? occupied("node(s) didn't satisfy existing pods anti-affinity rules") : [];
};
