import {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  StorageClass,
} from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import {
  controller,
  requeueAfter,
  watching,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { bind, preempt, reportRefusal } from "./act.ts";
import { type AssumedBindings, forgetSeen } from "./assumed-bindings.ts";
import { placesFor, type ClusterView, type VolumeView } from "./cluster-view.ts";
import { claimProblem } from "./filters/volumes.ts";
import { judge, unavailable } from "./judge.ts";
import { planPreemption } from "./preemption.ts";
import { scoreOf } from "./score.ts";
import { claimWakes, isPending, nodeWakes, podWakes } from "./wake-ups.ts";

/** An unschedulable pod is tried again after this time, even if nothing that it waits for has changed. */
const retryMs = 30_000;

/** Options of the scheduler. */
export interface SchedulerOptions {
  /**
   * `false`: no Events say where a pod went, or why nowhere; its condition does in any case. Default: `true`.
   */
  readonly events?: boolean;
  /** Whether claims must be bound, or be bound on the pod's node, before their pod runs. Default: `true`. */
  readonly claims?: boolean;
}

interface Scheduling {
  readonly assumed: AssumedBindings;
  readonly events: boolean;
  readonly claims: boolean;
}

/**
 * Binds each pod that names this scheduler and no node yet to the node that fits best. What it has bound and
 * the caches do not show yet is its own to remember: each manager has a scheduler of its own.
 */
export function scheduler({ events = true, claims = true }: SchedulerOptions = {}): ControllerDefinition {
  const scheduling: Scheduling = { assumed: new Map(), events, claims };
  const volumes = [watching(PersistentVolume, () => []), watching(StorageClass, () => []), claimWakes];
  return controller(Pod, {
    name: "scheduler",
    eventSource: "default-scheduler",
    watches: [nodeWakes, podWakes, watching(Namespace, () => []), ...(claims ? volumes : [])],
    async reconcile(pod, context) {
      if (isPending(pod)) return place(pod, scheduling, context);
    },
  });
}

async function place(pod: Stored<Pod>, scheduling: Scheduling, context: ReconcileContext): Promise<Result | void> {
  const cluster = observe(pod, scheduling, context);
  const problem = cluster.volumes === undefined ? undefined : claimProblem(pod, cluster.volumes);
  if (problem !== undefined)
    return refuse(pod, `0/${cluster.places.length} nodes are available: ${problem}.`, "", scheduling, context);
  const verdicts = cluster.places.map((each) => ({ place: each, misfits: judge(pod, each, cluster) }));
  const fitting = verdicts
    .filter(({ misfits }) => misfits.length === 0)
    .map(({ place: { name }, place: each }) => ({ name, score: scoreOf(pod, each, cluster) }))
    .toSorted((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  const [best] = fitting;
  if (best !== undefined) return assign(pod, best.name, scheduling, context);
  const reasons = verdicts.flatMap(({ misfits }) => misfits.map(({ reason }) => reason));
  const message = verdicts.length === 0 ? "no nodes available to schedule pods" : unavailable(verdicts.length, reasons);
  return makeRoom(pod, message, cluster, scheduling, context);
}

function observe(pod: Stored<Pod>, { assumed, claims }: Scheduling, context: ReconcileContext): ClusterView {
  const pods = context.list(Pod, { allNamespaces: true });
  forgetSeen(assumed, pods);
  const volumes: VolumeView = {
    claim: (name) => context.get(PersistentVolumeClaim, name),
    volume: (name) => context.get(PersistentVolume, name),
    storageClass: (name) => context.get(StorageClass, name),
  };
  return {
    places: placesFor(pod, context.list(Node), pods, assumed),
    namespaceLabels: (name) => context.get(Namespace, name)?.metadata.labels ?? {},
    volumes: claims ? volumes : undefined,
  };
}

async function assign(
  pod: Stored<Pod>,
  node: string,
  { assumed, events }: Scheduling,
  context: ReconcileContext,
): Promise<void> {
  const { name, namespace = "", uid } = pod.metadata;
  // Before the request: other pods are placed while it is under way.
  assumed.set(uid, node);
  try {
    await bind(pod, node, context);
  } catch (error) {
    assumed.delete(uid);
    throw error;
  }
  if (events) context.event("Normal", "Scheduled", `Successfully assigned ${namespace}/${name} to ${node}`);
}

/** Ends pods of lower priority where that helps, and reports why the pod waits. */
async function makeRoom(
  pod: Stored<Pod>,
  message: string,
  cluster: ClusterView,
  scheduling: Scheduling,
  context: ReconcileContext,
): Promise<Result> {
  if (cluster.places.length === 0) return refuse(pod, message, "", scheduling, context);
  const plan = planPreemption(pod, cluster, await budgets(pod, context));
  if (plan.kind === "none")
    return refuse(pod, `${message} preemption: ${plan.why}`, pod.status?.nominatedNodeName ?? "", scheduling, context);
  // First: other pods must not take the room that the victims leave.
  const result = await refuse(pod, message, plan.node, scheduling, context);
  for (const victim of plan.victims) await preempt(victim, pod, plan.node, context);
  return result;
}

/** Read only when pods may have to end: few clusters have pods that wait. */
async function budgets({ spec }: Stored<Pod>, { client }: ReconcileContext): Promise<readonly PodDisruptionBudget[]> {
  return (spec?.priority ?? 0) <= 0 ? [] : (await client.listAll(PodDisruptionBudget)).items;
}

async function refuse(
  pod: Stored<Pod>,
  message: string,
  nominatedNodeName: string,
  { events }: Scheduling,
  context: ReconcileContext,
): Promise<Result> {
  const isNew = await reportRefusal(pod, message, nominatedNodeName, context);
  if (isNew && events) context.event("Warning", "FailedScheduling", message);
  return requeueAfter(retryMs, message);
}
