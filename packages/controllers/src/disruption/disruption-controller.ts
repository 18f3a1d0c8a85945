import {
  Deployment,
  Pod,
  PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from "@setpoint/api";
import { deepEqual, matchesLabelSelector, type KubeObject } from "@setpoint/apimachinery";
import { timestamp } from "@setpoint/host";
import type { KindRef, Stored } from "@setpoint/client";
import {
  completeConditions,
  controller,
  keyOf,
  requeueAfter,
  watching,
  type CacheReader,
  type ConditionInit,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
  type WatchDefinition,
} from "@setpoint/runtime";
import { isReady } from "../pod-state.ts";
import { needsScale, planBudget } from "./budget-plan.ts";
import { expectedPods, type ExpectedPods } from "./expected-pods.ts";

/**
 * Counts for each PodDisruptionBudget how many of its pods may be evicted. The API server's `eviction` spends
 * what the status allows.
 */
export const podDisruptionBudgets: ControllerDefinition = controller(PodDisruptionBudget, {
  name: "disruption",
  eventSource: "controllermanager",
  // An eviction changes the status.
  predicate: () => true,
  watches: [
    watching(Pod, (pod, cache) => budgetsOf(pod.metadata.labels, pod.metadata.namespace, cache), {
      predicate: (old, next) => !deepEqual(countedOf(old), countedOf(next)),
    }),
    watchingScale(ReplicaSet),
    watchingScale(Deployment),
    watchingScale(StatefulSet),
    watchingScale(ReplicationController),
  ],
  async reconcile(budget, context) {
    const pods = context
      .list(Pod)
      .filter(({ metadata }) => matchesLabelSelector(budget.spec.selector, metadata.labels ?? {}));
    if (pods.length === 0) context.event("Normal", "NoPods", "No matching pods found");
    const expected = needsScale(budget) ? await expectedPods(pods, context) : { count: 0, unmanaged: [] };
    if (expected.problem !== undefined) return failSafe(budget, expected.problem, context);
    return writeBudget(budget, pods, expected, context);
  },
});

function budgetsOf(
  labels: Readonly<Record<string, string>> = {},
  namespace: string | undefined,
  cache: CacheReader,
): ReturnType<typeof keyOf>[] {
  return cache
    .list(PodDisruptionBudget, { namespace })
    .filter(({ spec }) => matchesLabelSelector(spec.selector, labels))
    .map((budget) => keyOf(budget));
}

/** What of a pod a budget counts. */
function countedOf({ metadata, ...pod }: Stored<Pod>): unknown {
  return [metadata.labels, metadata.deletionTimestamp, metadata.ownerReferences, isReady({ metadata, ...pod })];
}

interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
  };
}

/** A new scale comes before its pods: until they are there, it keeps the others. */
function watchingScale<T extends Workload>(kind: KindRef<T>): WatchDefinition<T> {
  return watching(
    kind,
    ({ spec, metadata }, cache) => budgetsOf(spec?.template?.metadata?.labels, metadata.namespace, cache),
    { predicate: (old, next) => old.metadata.generation !== next.metadata.generation },
  );
}

async function writeBudget(
  budget: Stored<PodDisruptionBudget>,
  pods: readonly Stored<Pod>[],
  expected: ExpectedPods,
  context: ReconcileContext,
): Promise<Result | void> {
  if (expected.unmanaged.length > 0) context.event("Warning", "UnmanagedPods", unmanagedMessage);
  const { status, kept, recheckMs } = planBudget({ budget, pods, expected, nowMs: context.host.clock.now() });
  const { namespace, name } = budget.metadata;
  for (const pod of kept)
    context.event(
      "Warning",
      "NotDeleted",
      `Pod was expected by PDB ${namespace}/${name} to be deleted but it wasn't`,
      pod,
    );
  const isAllowed = status.disruptionsAllowed > 0;
  await writeStatus(budget, { ...status, observedGeneration: budget.metadata.generation ?? 0 }, context, {
    type: "DisruptionAllowed",
    status: isAllowed ? "True" : "False",
    reason: isAllowed ? "SufficientPods" : "InsufficientPods",
    message: "",
  });
  if (recheckMs !== undefined) return requeueAfter(recheckMs, "see whether evicted pods have been deleted");
}

const unmanagedMessage =
  "Pods selected by this PodDisruptionBudget were found to be unmanaged. As a result, the status of the PDB cannot " +
  "be calculated correctly, which may result in undefined behavior. To account for these pods please set " +
  '".spec.minAvailable" field of the PDB to an integer value.';

/** What cannot be counted allows nothing. */
async function failSafe(
  budget: Stored<PodDisruptionBudget>,
  problem: string,
  context: ReconcileContext,
): Promise<void> {
  const message = `Failed to calculate the number of expected pods: ${problem}`;
  context.event("Warning", "CalculateExpectedPodCountFailed", message);
  const none = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  await writeStatus(budget, { ...none, ...budget.status, disruptionsAllowed: 0 }, context, {
    type: "DisruptionAllowed",
    status: "False",
    reason: "SyncFailed",
    message: problem,
  });
}

/**
 * An update with the version that was read: an eviction that has spent the budget meanwhile must not be
 * undone. An apply would leave entries of `disruptedPods` that the eviction wrote.
 */
async function writeStatus(
  budget: Stored<PodDisruptionBudget>,
  counted: PodDisruptionBudgetStatus,
  context: ReconcileContext,
  condition: ConditionInit,
): Promise<void> {
  const present = budget.status?.conditions ?? [];
  const now = timestamp(context.host.clock);
  const [completed] = completeConditions([condition], present, counted.observedGeneration, now);
  if (completed === undefined) return;
  const conditions = [...present.filter(({ type }) => type !== condition.type), completed];
  const status = { ...counted, conditions };
  if (deepEqual(withoutEmpty(status), withoutEmpty(budget.status ?? {}))) return;
  const { client, controller: own, signal } = context;
  await client.updateStatus(PodDisruptionBudget, { ...budget, status }, { fieldManager: own.fieldManager, signal });
}

/** The API server leaves out an empty map. */
function withoutEmpty({ disruptedPods = {}, ...status }: PodDisruptionBudgetStatus): PodDisruptionBudgetStatus {
  return Object.keys(disruptedPods).length === 0 ? status : { ...status, disruptedPods };
}
