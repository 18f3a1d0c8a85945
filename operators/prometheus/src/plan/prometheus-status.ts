/** The status of a Prometheus and of an agent; pure. */
import type { DaemonSet } from "setpoint/kinds";
import type { Stored } from "setpoint";
import { shardCount } from "../generate/sharding.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import { isPerNode } from "../kind/prometheus-agent.ts";
import type { AgentSeen, ScrapingSeen, Seen } from "../seen/seen.ts";
import { labels, ownLabels } from "../workload/names.ts";
import { replicasOf } from "../workload/stateful-set.ts";
import { countsOf, outcomeOf, type PodCounts, replicaStatus, selectorText, type WorkloadFacts } from "./conditions.ts";
import type { Plan } from "./outcome.ts";

export type PrometheusStatus = Omit<NonNullable<Prometheus["status"]>, "conditions">;

export function prometheusFacts({ prometheus, statefulSets, pods }: ScrapingSeen): WorkloadFacts {
  return {
    replicas: replicasOf(prometheus) * shardCount({ prometheus }),
    listensLocally: prometheus.spec.listenLocal === true,
    counts: countsOf(statefulSets),
    pods,
  };
}

/** A DaemonSet has as many pods as there are nodes for it. */
export function agentFacts(seen: AgentSeen): WorkloadFacts {
  const facts = prometheusFacts(seen);
  if (!isPerNode(seen.prometheus)) return facts;
  const [daemonSet] = seen.daemonSets;
  const replicas = daemonSet?.status?.desiredNumberScheduled ?? 0;
  return { ...facts, replicas, counts: daemonSet === undefined ? [] : [countsOfNodes(daemonSet)] };
}

function countsOfNodes({ status }: Stored<DaemonSet>): PodCounts {
  return { updated: status?.updatedNumberScheduled ?? 0, available: status?.numberAvailable ?? 0 };
}

export function statusOf(seen: Seen | AgentSeen, facts: WorkloadFacts, plan: Plan): PrometheusStatus {
  const { prometheus, statefulSets } = seen;
  const { metadata, spec, status } = prometheus;
  return {
    observedGeneration: metadata.generation,
    paused: spec.paused === true,
    ...replicaStatus(facts),
    shards: shardCount({ prometheus }),
    selector: selectorText(ownLabels(prometheus)),
    shardStatuses: shardStatuses(replicasOf(prometheus), statefulSets),
    ...outcomeOf(plan, status?.configurationHash),
  };
}

function shardStatuses(
  replicas: number,
  statefulSets: ScrapingSeen["statefulSets"],
): PrometheusStatus["shardStatuses"] {
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
