import { Pod, ReplicaSet } from "@setpoint/api";
import { matchesLabelSelector } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { randomSuffix, timestamp } from "@setpoint/host";
import {
  controller,
  outcome,
  requeueAfter,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { claimChildren, watchingOrphans } from "../claim-children.ts";
import { isActive, isReady, untilAvailableMs } from "../pod-state.ts";
import { inDeletionOrder } from "./deletion-order.ts";

/** Pods created in one pass; the next pass follows at once, so this only bounds what one mistake can do. */
const burstReplicas = 500;

/**
 * Keeps the number of pods that a ReplicaSet asks for. It adopts matching pods without an owner, and releases
 * and replaces pods that no longer match.
 */
export const replicaSets: ControllerDefinition = controller(ReplicaSet, {
  name: "replicaset",
  owns: [Pod],
  watches: [watchingOrphans(Pod, ReplicaSet)],
  async reconcile(set, context) {
    const claimer = { kind: ReplicaSet, object: set, selector: set.spec?.selector };
    const pods = await claimChildren(Pod, claimer, context, isActive);
    const active = pods.filter(isActive);
    const wanted = set.spec?.replicas ?? 1;
    const failure = await scale(set, active, wanted, context);
    return reportStatus(set, active, failure, context);
  },
});

interface Failure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

/**
 * Creates or deletes the difference; the first refusal ends the pass and becomes the condition
 * ReplicaFailure.
 */
async function scale(
  set: Stored<ReplicaSet>,
  active: readonly Stored<Pod>[],
  wanted: number,
  context: ReconcileContext,
): Promise<Failure | undefined> {
  const missing = Math.min(wanted - active.length, burstReplicas);
  for (let i = 0; i < missing; i++) {
    const name = `${(set.metadata.name ?? "").slice(0, 57)}-${randomSuffix(context.host.random, 5)}`;
    const result = await outcome(context.create(podOf(set, name)));
    if (result.kind === "done") context.event("Normal", "SuccessfulCreate", `Created pod: ${name}`);
    else return failed(context, { reason: "FailedCreate", message: result.error.message }, "Error creating");
  }
  for (const pod of inDeletionOrder(active).slice(0, Math.max(0, active.length - wanted))) {
    const result = await outcome(context.delete(pod));
    if (result.kind === "done") context.event("Normal", "SuccessfulDelete", `Deleted pod: ${pod.metadata.name}`);
    else return failed(context, { reason: "FailedDelete", message: result.error.message }, "Error deleting");
  }
  return undefined;
}

function failed(context: ReconcileContext, failure: Failure, words: string): Failure {
  context.event("Warning", failure.reason, `${words}: ${failure.message}`);
  return failure;
}

function podOf(set: Stored<ReplicaSet>, name: string): Pod {
  const { metadata: { labels = {}, annotations = {}, finalizers = [] } = {}, spec } = set.spec?.template ?? {};
  if (spec === undefined) throw new Error(`ReplicaSet "${set.metadata.name}" has a template without a spec`);
  return Pod({ name, namespace: set.metadata.namespace ?? "", labels, annotations, finalizers, spec });
}

/** A refused creation is tried again after half the time for which it has been refused, within these. */
const retryMsMin = 1_000;
const retryMsMax = 60_000;

async function reportStatus(
  set: Stored<ReplicaSet>,
  active: readonly Stored<Pod>[],
  failure: Failure | undefined,
  context: ReconcileContext,
): Promise<Result | void> {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const untilAvailable = active.map((pod) => untilAvailableMs(pod, minReadySeconds, context.host.clock.now()));
  const templateLabels = set.spec?.template?.metadata?.labels ?? {};
  const conditions = conditionsOf(set, failure, context);
  await context.status({
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) =>
      matchesLabelSelector({ matchLabels: templateLabels }, pod.metadata.labels ?? {}),
    ).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: untilAvailable.filter((ms) => ms === 0).length,
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length === 0 ? {} : { conditions }),
  });
  if (failure !== undefined) return requeueAfter(retryDelayMs(conditions, context), failure.message);
  const next = Math.min(...untilAvailable.filter((ms) => ms !== undefined && ms > 0).map(Number));
  if (Number.isFinite(next)) return requeueAfter(next, "a ready pod is not yet available");
}

function retryDelayMs(conditions: readonly FailureCondition[], { host: { clock } }: ReconcileContext): number {
  const refusedForMs = clock.now() - Date.parse(conditions[0]?.lastTransitionTime ?? "");
  return Math.min(Math.max(refusedForMs / 2, retryMsMin), retryMsMax);
}

interface FailureCondition {
  readonly type: "ReplicaFailure";
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/**
 * With their own time: a condition of apps/v1 has no field for the generation, which the framework would add.
 */
function conditionsOf(
  set: Stored<ReplicaSet>,
  failure: Failure | undefined,
  { host: { clock } }: ReconcileContext,
): readonly FailureCondition[] {
  const before = set.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  if (failure === undefined && before === undefined) return [];
  const status = failure === undefined ? "False" : "True";
  const since = before?.status === status ? before.lastTransitionTime : undefined;
  const { reason, message } = failure ?? { reason: "DesiredStateReached", message: "" };
  return [{ type: "ReplicaFailure", status, lastTransitionTime: since ?? timestamp(clock), reason, message }];
}
