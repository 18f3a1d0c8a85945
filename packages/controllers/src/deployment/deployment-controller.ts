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
import { claimChildren } from "../claim-children.ts";
import { countingCollisions } from "../taken-name.ts";
import {
  availableCondition,
  deploymentConditions,
  deploymentCounts,
  isComplete,
  progressingCondition,
} from "./deployment-status.ts";
import { hasTemplate, templateHash, templateHashLabel } from "./pod-template.ts";
import { planRecreate, planRollingUpdate, resolvePercent, type SetCount, type Sizes } from "./rolling-update.ts";

const revisionAnnotation = "deployment.kubernetes.io/revision";
/** How long a rollout may stand still before it is called timed out, when the Deployment does not say. */
const progressDeadlineSecondsDefault = 600;

/** Rolls a Deployment's template out over ReplicaSets. */
export const deployments: ControllerDefinition = controller(Deployment, {
  name: "deployment",
  owns: [ReplicaSet],
  watches: [watching(Pod, recreatedBy)],
  reconcile: (deployment, context) => countingCollisions(deployment, context, () => rollOut(deployment, context)),
});

async function rollOut(deployment: Stored<Deployment>, context: ReconcileContext): Promise<Result | void> {
  const claimer = { kind: Deployment, object: deployment, selector: deployment.spec?.selector };
  const sets = (await claimChildren(ReplicaSet, claimer, context)).toSorted(byAge);
  const current = await ensureCurrentSet(deployment, sets, context);
  await showRevision(deployment, current, context);
  const all = [...sets.filter((set) => set.metadata.uid !== current.metadata.uid), current];
  if (deployment.spec?.paused !== true) {
    for (const [name, replicas] of planSizes(deployment, current, all, context))
      await resize(deployment, all, name, replicas, context);
    await deleteOldSets(deployment, current, all, context);
  }
  return reportStatus(deployment, current, all, context);
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

function byAge(a: ReplicaSet, b: ReplicaSet): number {
  return revisionOf(a) - revisionOf(b);
}

function revisionOf(set: ReplicaSet): number {
  return Number(set.metadata.annotations?.[revisionAnnotation] ?? 0);
}

/** The ReplicaSet with the Deployment's template: an old one again after a rollback, or a new one. */
async function ensureCurrentSet(
  deployment: Stored<Deployment>,
  sets: readonly Stored<ReplicaSet>[],
  context: ReconcileContext,
): Promise<Stored<ReplicaSet>> {
  const template = deployment.spec?.template ?? { spec: undefined };
  const newest = Math.max(0, ...sets.map(revisionOf));
  const found = sets.find((set) => hasTemplate(set, template as NonNullable<Deployment["spec"]>["template"]));
  if (found === undefined) return createSet(deployment, newest + 1, context);
  if (revisionOf(found) === newest) return found;
  return context.patch(found, { metadata: { annotations: { [revisionAnnotation]: String(newest + 1) } } });
}

/** `kubectl rollout history` and `undo` read the revision of the Deployment itself. */
async function showRevision(
  deployment: Stored<Deployment>,
  current: ReplicaSet,
  context: ReconcileContext,
): Promise<void> {
  const revision = current.metadata.annotations?.[revisionAnnotation];
  if (revision === undefined || deployment.metadata.annotations?.[revisionAnnotation] === revision) return;
  await context.patch(deployment, { metadata: { annotations: { [revisionAnnotation]: revision } } });
}

async function createSet(
  deployment: Stored<Deployment>,
  revision: number,
  context: ReconcileContext,
): Promise<Stored<ReplicaSet>> {
  const spec = deployment.spec;
  if (spec === undefined) throw new Error(`Deployment "${deployment.metadata.name}" has no spec`);
  const hash = templateHash(spec.template, deployment.status?.collisionCount ?? 0);
  const labels = { ...spec.template.metadata?.labels, [templateHashLabel]: hash };
  const set = ReplicaSet({
    name: `${deployment.metadata.name}-${hash}`,
    namespace: deployment.metadata.namespace ?? "",
    labels,
    annotations: {
      [revisionAnnotation]: String(revision),
      "deployment.kubernetes.io/desired-replicas": String(spec.replicas ?? 1),
    },
    spec: {
      replicas: 0,
      ...(spec.minReadySeconds === undefined ? {} : { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [templateHashLabel]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  });
  return context.create(set);
}

function planSizes(
  deployment: Stored<Deployment>,
  current: ReplicaSet,
  all: readonly Stored<ReplicaSet>[],
  context: ReconcileContext,
): Sizes {
  const replicas = deployment.spec?.replicas ?? 1;
  const old = all.filter((set) => set.metadata.uid !== current.metadata.uid);
  if (deployment.spec?.strategy?.type === "Recreate") {
    const oldPods = old.reduce((sum, set) => sum + podsOf(set, context), 0);
    return planRecreate(replicas, countOf(current), old.map(countOf), oldPods);
  }
  const rolling = deployment.spec?.strategy?.rollingUpdate;
  const maxSurge = resolvePercent(rolling?.maxSurge, replicas, "up");
  const maxUnavailable = resolvePercent(rolling?.maxUnavailable, replicas, "down");
  return planRollingUpdate({
    replicas,
    maxSurge,
    // Both zero could never move.
    maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable,
    current: countOf(current),
    old: old.map(countOf),
  });
}

/** Pods of a set that still exist, terminating ones included. */
function podsOf(set: Stored<ReplicaSet>, context: ReconcileContext): number {
  const pods = context.list(Pod);
  return pods.filter((pod) => matchesLabelSelector(set.spec?.selector, pod.metadata.labels ?? {})).length;
}

function countOf(set: ReplicaSet): SetCount {
  return {
    name: set.metadata.name ?? "",
    wanted: set.spec?.replicas ?? 0,
    available: set.status?.availableReplicas ?? 0,
  };
}

async function resize(
  deployment: Deployment,
  all: readonly Stored<ReplicaSet>[],
  name: string,
  replicas: number,
  context: ReconcileContext,
): Promise<void> {
  const set = all.find((each) => each.metadata.name === name);
  if (set === undefined) return;
  const before = set.spec?.replicas ?? 0;
  const annotations = { "deployment.kubernetes.io/desired-replicas": String(deployment.spec?.replicas ?? 1) };
  await context.patch(set, { metadata: { annotations }, spec: { replicas } });
  const direction = replicas > before ? "up" : "down";
  context.event("Normal", "ScalingReplicaSet", `Scaled ${direction} replica set ${name} from ${before} to ${replicas}`);
}

async function deleteOldSets(
  deployment: Deployment,
  current: ReplicaSet,
  all: readonly Stored<ReplicaSet>[],
  context: ReconcileContext,
): Promise<void> {
  const limit = deployment.spec?.revisionHistoryLimit ?? 10;
  const empty = all.filter(
    (set) => set.metadata.uid !== current.metadata.uid && set.spec?.replicas === 0 && (set.status?.replicas ?? 0) === 0,
  );
  for (const set of empty.slice(0, Math.max(0, empty.length - limit))) await context.delete(set, { unchanged: true });
}

async function reportStatus(
  deployment: Stored<Deployment>,
  current: ReplicaSet,
  all: readonly ReplicaSet[],
  context: ReconcileContext,
): Promise<Result | void> {
  const counts = deploymentCounts(deployment, all, current);
  const replicas = deployment.spec?.replicas ?? 1;
  const maxUnavailable = resolvePercent(deployment.spec?.strategy?.rollingUpdate?.maxUnavailable, replicas, "down");
  const deadlineMs = (deployment.spec?.progressDeadlineSeconds ?? progressDeadlineSecondsDefault) * 1000;
  const untilTimeoutMs = Date.parse(current.metadata.creationTimestamp ?? "") + deadlineMs - context.host.clock.now();
  const wanted = [
    availableCondition(counts, replicas - maxUnavailable),
    progressingCondition(deployment, counts, current.metadata.name ?? "", untilTimeoutMs <= 0),
  ];
  const conditions = deploymentConditions(deployment.status?.conditions ?? [], wanted, timestamp(context.host.clock));
  const { collisionCount = 0 } = deployment.status ?? {};
  const observedGeneration = deployment.metadata.generation ?? 0;
  await context.status({ ...counts, collisionCount, observedGeneration, conditions });
  if (!isComplete(deployment, counts) && untilTimeoutMs > 0)
    return requeueAfter(untilTimeoutMs, "the rollout's deadline");
}
