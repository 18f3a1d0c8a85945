/** The conditions and the status of a Prometheus; pure. */
import type { ConditionInit } from "setpoint";
import { problemText } from "../generate/problem-text.ts";
import { shardCount } from "../generate/sharding.ts";
import { refusalText } from "../select/refusal.ts";
import type { Prometheus } from "../kind/prometheus.ts";
import type { Seen } from "../seen/seen.ts";
import { labels, ownLabels } from "../workload/names.ts";
import type { Plan } from "./plan.ts";

type Status = Omit<NonNullable<Prometheus["status"]>, "conditions">;

/** So many problems are in the status; the configuration of a large cluster may have thousands. */
const problemsMax = 20;

export function conditionsOf(seen: Seen, plan: Plan): readonly ConditionInit[] {
  return [available(seen), reconciled(plan), configurationLoaded(seen, plan)];
}

function available({ prometheus, statefulSets }: Seen): ConditionInit {
  const { replicas, available: ready } = totals(prometheus, statefulSets);
  const type = "Available";
  const have = `${ready} of ${replicas} pods are available`;
  if (ready >= replicas) return { type, status: "True", reason: "AllPodsReady", message: have };
  return { type, status: "False", reason: ready === 0 ? "NoPodReady" : "SomePodsNotReady", message: have };
}

function reconciled(plan: Plan): ConditionInit {
  const type = "Reconciled";
  if (plan.kind === "paused")
    return { type, status: "Unknown", reason: "Paused", message: "spec.paused is true, so nothing is changed" };
  if (plan.kind === "refused")
    return { type, status: "False", reason: "InvalidConfiguration", message: refusalText(plan.refusal) };
  const [first] = plan.rejected;
  if (first === undefined) return { type, status: "True", reason: "Applied", message: "All objects are applied" };
  const { kind, metadata } = first.object;
  const who = `${kind} "${metadata.namespace ?? ""}/${metadata.name}"`;
  const others = plan.rejected.length === 1 ? "" : ` and ${plan.rejected.length - 1} more`;
  const message = `Left out: ${who}: ${refusalText(first.refusal)}${others}`;
  return { type, status: "True", reason: "SomeObjectsLeftOut", message };
}

function configurationLoaded({ prometheus, pods }: Seen, plan: Plan): ConditionInit {
  const type = "ConfigurationLoaded";
  if (prometheus.spec.listenLocal === true) {
    const message = "With spec.listenLocal, only the pod itself can ask what is loaded";
    return { type, status: "Unknown", reason: "ListensLocally", message };
  }
  if (plan.kind !== "apply" || plan.hash === undefined)
    return {
      type,
      status: "Unknown",
      reason: "NotManaged",
      message: "The operator writes no configuration at present",
    };
  const { hash } = plan;
  const refused = pods.find(({ loaded }) => loaded?.failing?.hash === hash);
  if (refused !== undefined)
    return {
      type,
      status: "False",
      reason: "Refused",
      message: `Pod "${refused.name}" keeps its old configuration: ${refused.loaded?.failing?.message ?? ""}`,
    };
  const behind = pods.filter(({ loaded }) => loaded?.hash !== hash);
  if (pods.length > 0 && behind.length === 0)
    return { type, status: "True", reason: "Loaded", message: "All pods have loaded the configuration" };
  const waiting = behind.map(({ name }) => name).join(", ");
  const message = pods.length === 0 ? "Waiting for the first pod" : `Waiting until these pods load it: ${waiting}`;
  return { type, status: "False", reason: "Waiting", message };
}

/** Whether all pods have what they should have, or cannot be asked. */
export function isLoaded({ prometheus, pods }: Pick<Seen, "prometheus" | "pods">, hash: string | undefined): boolean {
  if (prometheus.spec.listenLocal === true) return true;
  return pods.length > 0 && pods.every(({ loaded }) => loaded?.hash === hash && loaded?.failing === undefined);
}

interface Totals {
  readonly replicas: number;
  readonly updated: number;
  readonly available: number;
}

function totals(prometheus: Prometheus, statefulSets: Seen["statefulSets"]): Totals {
  const sum = (count: (status: NonNullable<Seen["statefulSets"][number]["status"]>) => number | undefined): number =>
    statefulSets.reduce((total, { status }) => total + (status === undefined ? 0 : (count(status) ?? 0)), 0);
  return {
    replicas: Math.max(prometheus.spec.replicas ?? 1, 0) * shardCount({ prometheus }),
    updated: sum(({ updatedReplicas }) => updatedReplicas),
    available: sum(({ availableReplicas }) => availableReplicas),
  };
}

export function statusOf({ prometheus, statefulSets }: Seen, plan: Plan): Status {
  const { metadata, spec, status } = prometheus;
  const { replicas, updated, available: ready } = totals(prometheus, statefulSets);
  const hash = plan.kind === "apply" ? plan.hash : status?.configurationHash;
  const problems = plan.kind === "apply" ? plan.problems.slice(0, problemsMax).map(problemText) : [];
  return {
    observedGeneration: metadata.generation,
    paused: spec.paused === true,
    replicas,
    updatedReplicas: updated,
    availableReplicas: ready,
    unavailableReplicas: Math.max(replicas - ready, 0),
    shards: shardCount({ prometheus }),
    selector: Object.entries(ownLabels(metadata.name))
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
    shardStatuses: shardStatuses(prometheus, statefulSets),
    ...(hash === undefined ? {} : { configurationHash: hash }),
    ...(problems.length === 0 ? {} : { problems }),
  };
}

function shardStatuses({ spec }: Prometheus, statefulSets: Seen["statefulSets"]): Status["shardStatuses"] {
  const replicas = Math.max(spec.replicas ?? 1, 0);
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
