/** The status of a Prometheus; pure. */
import { shardCount } from "../generate/sharding.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import type { Seen } from "../seen/seen.ts";
import { labels, ownLabels } from "../workload/names.ts";
import { replicasOf } from "../workload/stateful-set.ts";
import { countsOf, outcomeOf, replicaStatus, selectorText, type WorkloadFacts } from "./conditions.ts";
import type { Plan } from "./outcome.ts";

export type PrometheusStatus = Omit<NonNullable<Prometheus["status"]>, "conditions">;

export function prometheusFacts({ prometheus, statefulSets, pods }: Seen): WorkloadFacts {
  return {
    replicas: replicasOf(prometheus) * shardCount({ prometheus }),
    listensLocally: prometheus.spec.listenLocal === true,
    counts: countsOf(statefulSets),
    pods,
  };
}

export function statusOf(seen: Seen, plan: Plan): PrometheusStatus {
  const { prometheus, statefulSets } = seen;
  const { metadata, spec, status } = prometheus;
  return {
    observedGeneration: metadata.generation,
    paused: spec.paused === true,
    ...replicaStatus(prometheusFacts(seen)),
    shards: shardCount({ prometheus }),
    selector: selectorText(ownLabels(prometheus)),
    shardStatuses: shardStatuses(prometheus, statefulSets),
    ...outcomeOf(plan, status?.configurationHash),
  };
}

function shardStatuses(prometheus: Prometheus, statefulSets: Seen["statefulSets"]): PrometheusStatus["shardStatuses"] {
  const replicas = replicasOf(prometheus);
  return statefulSets
    .map(({ metadata, status }) => ({
      shardID: metadata.labels?.[labels.shard] ?? "0",
      replicas,
      updatedReplicas: status?.updatedReplicas ?? 0,
      availableReplicas: status?.availableReplicas ?? 0,
      unavailableReplicas: Math.max(replicas - (status?.availableReplicas ?? 0), 0),
    }))
    .toSorted((a, b) => Number(a.shardID) - Number(b.shardID));
}
