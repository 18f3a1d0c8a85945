import { Pod, ReplicaSet, Deployment } from "@setpoint/api";
import { controllerOf, matchesLabelSelector, type NamespacedName } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { timestamp } from "@setpoint/host";
import {
  controller,
  keyOf,
  requeueAfter,
  watching,
  type CacheReader,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { claimChildren, watchingOrphans } from "../claim-children.ts";
import { changesMoreThanConditions } from "../status-corrected.ts";
import { countingCollisions } from "../taken-name.ts";
import {
  byRevision,
  createSet,
  findCurrentSet,
  refreshSet,
  showRevision,
  sizedAnnotations,
  sizedFor,
} from "./current-set.ts";
import {
  availableCondition,
  deploymentCounts,
  failureCondition,
  isComplete,
  timedCondition,
} from "./deployment-status.ts";
import { progressingCondition, untilTimeoutMs } from "./progress.ts";
import { isScaled, planScaling, type ScaledSet } from "./proportional-scaling.ts";
import { boundsOf, planRecreate, planRollingUpdate, type Bounds, type Sizes } from "./rolling-update.ts";

/** Rolls a Deployment's template out over ReplicaSets. */
export const deployments: ControllerDefinition = controller(Deployment, {
  name: "deployment",
  eventSource: "deployment-controller",
  predicate: changesMoreThanConditions,

  owns: [ReplicaSet],
  watches: [watchingOrphans(ReplicaSet, Deployment), watching(Pod, recreatedBy)],
  reconcile: (deployment, context) => countingCollisions(deployment, context, () => reconcileSets(deployment, context)),
});

/** The sets of a Deployment: the oldest revision first, the one with its template apart. */
interface Sets {
  /** Undefined while there is none: a paused Deployment makes no set of a new template. */
  readonly current: Stored<ReplicaSet> | undefined;
  readonly isCreated: boolean;
  readonly old: readonly Stored<ReplicaSet>[];
}

async function reconcileSets(deployment: Stored<Deployment>, context: ReconcileContext): Promise<Result | void> {
  const claimer = { kind: Deployment, object: deployment, selector: deployment.spec?.selector };
  const claimed = (await claimChildren(ReplicaSet, claimer, context)).toSorted(byRevision);
  const isPaused = deployment.spec?.paused === true;
  const isScaling = isPaused || isScaled(deployment.spec?.replicas ?? 1, claimed.map(scaledSet));
  const sets = await seeSets(deployment, claimed, !isScaling, context);
  const sizes = isScaling ? planScaling(scalingState(deployment, sets)) : planRollout(deployment, sets, context);
  for (const [name, replicas] of sizes) await resize(deployment, sets, name, replicas, context);
  const isDone = isPaused || isComplete(deployment, countsOf(deployment, sets));
  if (isDone && sizes.size === 0) await deleteOldSets(deployment, sets.old, context);
  return reportStatus(deployment, sets, context);
}

async function seeSets(
  deployment: Stored<Deployment>,
  claimed: readonly Stored<ReplicaSet>[],
  mayCreate: boolean,
  context: ReconcileContext,
): Promise<Sets> {
  const found = findCurrentSet(deployment, claimed);
  const isCreated = found === undefined && mayCreate;
  const old = claimed.filter((set) => set !== found);
  if (found === undefined && !isCreated) return { current: undefined, isCreated, old };
  const current =
    found === undefined
      ? await createSet(deployment, claimed, context)
      : await refreshSet(deployment, found, claimed, context);
  await showRevision(deployment, current, context);
  return { current, isCreated, old };
}

function allOf({ old, current }: Sets): readonly Stored<ReplicaSet>[] {
  return current === undefined ? old : [...old, current];
}

/** Recreate waits for the end of old pods, and their ReplicaSet does not count those that are terminating. */
function recreatedBy(pod: Stored<Pod>, cache: CacheReader): readonly NamespacedName[] {
  const { namespace } = pod.metadata;
  const set = controllerOf(pod);
  const replicaSet = set?.kind === "ReplicaSet" ? cache.get(ReplicaSet, set.name, namespace) : undefined;
  const owner = replicaSet === undefined ? undefined : controllerOf(replicaSet);
  if (owner?.kind !== "Deployment") return [];
  const deployment = cache.get(Deployment, owner.name, namespace);
  return deployment?.spec?.strategy?.type === "Recreate" ? [keyOf(deployment)] : [];
}

function planRollout(deployment: Stored<Deployment>, { current, old }: Sets, context: ReconcileContext): Sizes {
  if (current === undefined) return new Map();
  const replicas = deployment.spec?.replicas ?? 1;
  if (isRolling(deployment))
    return planRollingUpdate({
      replicas,
      ...bounds(deployment),
      current: scaledSet(current),
      old: old.toSorted(byAge).map(scaledSet),
    });
  const oldPods = old.reduce((sum, set) => sum + podsOf(set, context), 0);
  return planRecreate(replicas, scaledSet(current), old.map(scaledSet), oldPods);
}

function scalingState(deployment: Deployment, { current, old }: Sets): Parameters<typeof planScaling>[0] {
  return {
    replicas: deployment.spec?.replicas ?? 1,
    maxSurge: bounds(deployment).maxSurge,
    isRolling: isRolling(deployment),
    reportedReplicas: deployment.status?.replicas ?? 0,
    current: current === undefined ? undefined : scaledSet(current),
    old: old.map(scaledSet),
  };
}

function isRolling({ spec }: Deployment): boolean {
  return spec?.strategy?.type !== "Recreate";
}

/** Recreate neither adds pods nor keeps any. */
function bounds(deployment: Deployment): Bounds {
  const { strategy, replicas = 1 } = deployment.spec ?? {};
  return isRolling(deployment) ? boundsOf(strategy?.rollingUpdate, replicas) : { maxSurge: 0, maxUnavailable: 0 };
}

function byAge(a: ReplicaSet, b: ReplicaSet): number {
  return Date.parse(a.metadata.creationTimestamp ?? "") - Date.parse(b.metadata.creationTimestamp ?? "");
}

/** Pods of a set that still exist, terminating ones included. */
function podsOf(set: Stored<ReplicaSet>, context: ReconcileContext): number {
  const pods = context.list(Pod);
  return pods.filter((pod) => matchesLabelSelector(set.spec?.selector, pod.metadata.labels ?? {})).length;
}

function scaledSet(set: ReplicaSet): ScaledSet {
  return {
    name: set.metadata.name ?? "",
    wanted: set.spec?.replicas ?? 0,
    available: set.status?.availableReplicas ?? 0,
    createdAt: set.metadata.creationTimestamp ?? "",
    ...sizedFor(set),
  };
}

async function resize(
  deployment: Deployment,
  sets: Sets,
  name: string,
  replicas: number,
  context: ReconcileContext,
): Promise<void> {
  const set = allOf(sets).find((each) => each.metadata.name === name);
  if (set === undefined) return;
  const before = set.spec?.replicas ?? 0;
  const annotations = sizedAnnotations(deployment);
  const isSized = Object.entries(annotations).every(([key, value]) => set.metadata.annotations?.[key] === value);
  if (before === replicas && isSized) return;
  await context.patch(set, { metadata: { annotations }, spec: { replicas } });
  if (before === replicas) return;
  const direction = replicas > before ? "up" : "down";
  context.event("Normal", "ScalingReplicaSet", `Scaled ${direction} replica set ${name} from ${before} to ${replicas}`);
}

/** The oldest of those beyond the limit go; one that still has pods, or may have, stays. */
async function deleteOldSets(
  deployment: Deployment,
  old: readonly Stored<ReplicaSet>[],
  context: ReconcileContext,
): Promise<void> {
  const limit = deployment.spec?.revisionHistoryLimit ?? 10;
  const present = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const set of present.slice(0, Math.max(0, present.length - limit)))
    if (isEmpty(set)) await context.delete(set, { unchanged: true });
}

function isEmpty({ metadata, spec, status }: Stored<ReplicaSet>): boolean {
  const isReported = (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
  return isReported && spec?.replicas === 0 && (status?.replicas ?? 0) === 0;
}

function countsOf(deployment: Deployment, sets: Sets): ReturnType<typeof deploymentCounts> {
  return deploymentCounts(deployment, allOf(sets), sets.current);
}

async function reportStatus(
  deployment: Stored<Deployment>,
  sets: Sets,
  context: ReconcileContext,
): Promise<Result | void> {
  const now = timestamp(context.host.clock);
  const counts = countsOf(deployment, sets);
  const set = sets.current?.metadata.name;
  const progressing = progressingCondition({ deployment, counts, set, isCreated: sets.isCreated, now });
  const replicas = deployment.spec?.replicas ?? 1;
  const failure = failureCondition(sets.old, sets.current);
  const available = availableCondition(counts, replicas - Math.min(replicas, bounds(deployment).maxUnavailable));
  const conditions = [
    timedCondition(deployment, available, now),
    ...(progressing === undefined ? [] : [progressing]),
    ...(failure === undefined ? [] : [timedCondition(deployment, failure, now)]),
  ];
  const { collisionCount } = deployment.status ?? {};
  const collisions = collisionCount === undefined ? {} : { collisionCount };
  const observedGeneration = deployment.metadata.generation ?? 0;
  await context.status({ ...counts, ...collisions, observedGeneration, conditions });
  const timeoutMs = untilTimeoutMs(deployment, progressing, now);
  if (timeoutMs !== undefined) return requeueAfter(timeoutMs, "the rollout's deadline");
}
