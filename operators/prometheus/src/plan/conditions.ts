/** The conditions and the counts that all workloads have; pure. */
import type { ConditionInit, Stored } from "setpoint";
import type { StatefulSet } from "setpoint/kinds";
import { problemText } from "../generate/problem-text.ts";
import { refusalText } from "../select/refusal.ts";
import type { SeenPod } from "../seen/seen.ts";
import type { Plan } from "./outcome.ts";

/** What of a snapshot the conditions are about. */
export interface WorkloadFacts {
  /** How many pods there should be. */
  readonly replicas: number;
  /** Only the pods themselves can ask what is loaded. */
  readonly listensLocally: boolean;
  /** Of each StatefulSet or DaemonSet. */
  readonly counts: readonly PodCounts[];
  readonly pods: readonly SeenPod[];
}

/** What a StatefulSet or a DaemonSet says of its pods. */
export interface PodCounts {
  readonly updated: number;
  readonly available: number;
}

export function countsOf(statefulSets: readonly Stored<StatefulSet>[]): readonly PodCounts[] {
  return statefulSets.map(({ status }) => ({
    updated: status?.updatedReplicas ?? 0,
    available: status?.availableReplicas ?? 0,
  }));
}

/** So many problems are in the status; the configuration of a large cluster may have thousands. */
const problemsMax = 20;

export function conditionsOf(facts: WorkloadFacts, plan: Plan): readonly ConditionInit[] {
  return [available(facts), reconciled(plan), configurationLoaded(facts, plan)];
}

function available(facts: WorkloadFacts): ConditionInit {
  const { replicas, availableReplicas: ready } = replicaStatus(facts);
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

function configurationLoaded({ listensLocally, pods }: WorkloadFacts, plan: Plan): ConditionInit {
  const type = "ConfigurationLoaded";
  if (listensLocally) {
    const message = "With spec.listenLocal, only the pod itself can ask what is loaded";
    return { type, status: "Unknown", reason: "ListensLocally", message };
  }
  if (plan.kind !== "apply" || plan.hash === undefined) {
    const message = "The operator writes no configuration at present";
    return { type, status: "Unknown", reason: "NotManaged", message };
  }
  const { hash } = plan;
  const refused = pods.find(({ loaded }) => loaded?.failing?.hash === hash);
  if (refused !== undefined) {
    const message = `Pod "${refused.name}" keeps its old configuration: ${refused.loaded?.failing?.message ?? ""}`;
    return { type, status: "False", reason: "Refused", message };
  }
  const behind = pods.filter(({ loaded }) => loaded?.hash !== hash);
  if (pods.length > 0 && behind.length === 0)
    return { type, status: "True", reason: "Loaded", message: "All pods have loaded the configuration" };
  const waiting = behind.map(({ name }) => name).join(", ");
  const message = pods.length === 0 ? "Waiting for the first pod" : `Waiting until these pods load it: ${waiting}`;
  return { type, status: "False", reason: "Waiting", message };
}

/** Whether all pods have what they should have, or cannot be asked. */
export function isLoaded(
  { listensLocally, pods }: Pick<WorkloadFacts, "listensLocally" | "pods">,
  hash: string | undefined,
): boolean {
  if (listensLocally) return true;
  return pods.length > 0 && pods.every(({ loaded }) => loaded?.hash === hash && loaded?.failing === undefined);
}

/** The counts of pods, as a status has them. */
export interface ReplicaStatus {
  readonly replicas: number;
  readonly updatedReplicas: number;
  readonly availableReplicas: number;
  readonly unavailableReplicas: number;
}

export function replicaStatus({ replicas, counts }: WorkloadFacts): ReplicaStatus {
  const sum = (count: keyof PodCounts): number => counts.reduce((total, each) => total + each[count], 0);
  const availableReplicas = sum("available");
  return {
    replicas,
    updatedReplicas: sum("updated"),
    availableReplicas,
    unavailableReplicas: Math.max(replicas - availableReplicas, 0),
  };
}

/** Of a plan that changes nothing, the hash of the last one. */
export interface Outcome {
  readonly configurationHash?: string;
  readonly problems?: readonly string[];
}

export function outcomeOf(plan: Plan, before: string | undefined): Outcome {
  const hash = plan.kind === "apply" ? plan.hash : before;
  const problems = plan.kind === "apply" ? plan.problems.slice(0, problemsMax).map(problemText) : [];
  return {
    ...(hash === undefined ? {} : { configurationHash: hash }),
    ...(problems.length === 0 ? {} : { problems }),
  };
}

export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
