/** Keeps a number of equal pods: what a ReplicaSet and a ReplicationController have in common. */
import { Pod, type PodTemplateSpec } from "@setpoint/api";
import { matchesLabelSelector, type KubeObject, type LabelSelectorObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { randomSuffix, timestamp } from "@setpoint/host";
import { outcome, requeueAfter, type ReconcileContext, type Result } from "@setpoint/runtime";
import { claimChildren } from "../claim-children.ts";
import { isActive, isFinished, isReady, untilAvailableMs } from "../pod-state.ts";
import { inDeletionOrder } from "./deletion-order.ts";

/** Pods created in one pass; the next pass follows at once, so this only bounds what one mistake can do. */
const burstReplicas = 500;

/** What asks for replicas. */
export interface Replicated extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly template?: PodTemplateSpec;
  };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

/** Adopts and releases pods, creates or deletes the difference, and reports both in the status. */
export async function reconcileReplicas(
  kind: KindRef,
  set: Stored<Replicated>,
  selector: LabelSelectorObject | undefined,
  context: ReconcileContext,
): Promise<Result | void> {
  const pods = await claimChildren(Pod, { kind, object: set, selector }, context, isActive);
  const active = pods.filter(isActive);
  const failure = await scale(set, active, set.spec?.replicas ?? 1, context);
  // A ReplicationController has no field for those that end.
  const ending = kind.kind === "ReplicaSet" ? { terminatingReplicas: pods.filter(isEnding).length } : {};
  return reportStatus(set, { active, ending }, failure, context);
}

function isEnding(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isFinished(pod);
}

interface SeenPods {
  readonly active: readonly Stored<Pod>[];
  readonly ending: { readonly terminatingReplicas?: number };
}

interface Failure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

/**
 * Creates or deletes the difference; the first refusal ends the pass and becomes the condition
 * ReplicaFailure.
 */
async function scale(
  set: Stored<Replicated>,
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

function podOf(set: Stored<Replicated>, name: string): Pod {
  const { metadata: { labels = {}, annotations = {}, finalizers = [] } = {}, spec } = set.spec?.template ?? {};
  if (spec === undefined) throw new Error(`${set.kind} "${set.metadata.name}" has a template without a spec`);
  return Pod({ name, namespace: set.metadata.namespace ?? "", labels, annotations, finalizers, spec });
}

/** A refused creation is tried again after half the time for which it has been refused, within these. */
const retryMsMin = 1_000;
const retryMsMax = 60_000;

async function reportStatus(
  set: Stored<Replicated>,
  { active, ending }: SeenPods,
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
    ...ending,
    observedGeneration: set.metadata.generation ?? 0,
    conditions,
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
 * With its own time: a condition of these kinds has no field for the generation, which the framework would
 * add. It is removed when the failure is over, as upstream does.
 */
function conditionsOf(
  set: Stored<Replicated>,
  failure: Failure | undefined,
  { host: { clock } }: ReconcileContext,
): readonly FailureCondition[] {
  if (failure === undefined) return [];
  const before = set.status?.conditions?.find(({ type }) => type === "ReplicaFailure");
  const since = before?.status === "True" ? before.lastTransitionTime : undefined;
  return [{ type: "ReplicaFailure", status: "True", lastTransitionTime: since ?? timestamp(clock), ...failure }];
}
