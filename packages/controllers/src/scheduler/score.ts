/** How well a pod fits a place that it may run on; higher is better. Pure. */
import type { Pod } from "@setpoint/api";
import { requestsOf } from "./amounts.ts";
import type { ClusterView, Place } from "./cluster-view.ts";
import { matchesTerm } from "./filters/node-affinity.ts";
import { meansPod, sharing } from "./filters/pod-affinity.ts";
import { isTolerated } from "./filters/taints.ts";
import { skewAt } from "./filters/topology-spread.ts";

/** The weight of a pod that is there already, beside what the pod's author prefers with weights up to 100. */
const weights = { pod: 1, load: 10, taint: 300, skew: 50 } as const;

/** What authors prefer counts most, then the even use of the nodes. */
export function scoreOf(pod: Pod, place: Place, cluster: ClusterView): number {
  return (
    preferredNode(pod, place) +
    preferredPods(pod, place, cluster) -
    weights.taint * preferNoSchedule(pod, place) -
    weights.skew * softSkew(pod, place, cluster) -
    weights.load * loadWith(pod, place) -
    weights.pod * place.pods.length
  );
}

function preferredNode({ spec }: Pod, { labels, name }: Place): number {
  const terms = spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.reduce((sum, { weight, preference }) => sum + (matchesTerm(preference, labels, name) ? weight : 0), 0);
}

function preferredPods(pod: Pod, place: Place, cluster: ClusterView): number {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const near = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const far = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const found = ({ weight, podAffinityTerm: term }: (typeof near)[number]): number =>
    weight *
    sharing(place, term.topologyKey, cluster)
      .flatMap(({ pods }) => pods)
      .filter((other) => meansPod(term, pod.metadata.namespace ?? "", other, cluster)).length;
  return near.reduce((sum, each) => sum + found(each), 0) - far.reduce((sum, each) => sum + found(each), 0);
}

function preferNoSchedule({ spec }: Pod, { node }: Place): number {
  return (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === "PreferNoSchedule" && !isTolerated(taint, spec?.tolerations ?? []),
  ).length;
}

function softSkew(pod: Pod, place: Place, cluster: ClusterView): number {
  return (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway")
    .reduce((sum, constraint) => sum + (skewAt(constraint, pod, place, cluster) ?? 0), 0);
}

/** The larger share of the node's CPU and memory that would be asked for. */
function loadWith(pod: Pod, { used, allocatable }: Place): number {
  const requests = requestsOf(pod);
  const shares = ["cpu", "memory"].map(
    (name) => ((used[name] ?? 0) + (requests[name] ?? 0)) / Math.max(1, allocatable[name] ?? 1),
  );
  return Math.min(1, Math.max(...shares));
}
