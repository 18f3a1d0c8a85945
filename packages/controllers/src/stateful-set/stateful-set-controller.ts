import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from "@setpoint/api";
import { isAlreadyExists } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import {
  controller,
  keyOf,
  outcome,
  requeueAfter,
  watching,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { claimChildren, watchingOrphans } from "../claim-children.ts";
import { recordTemplate, templateOf, truncateHistory, type TemplateHistory } from "../revisions/template-history.ts";
import { changesMoreThanConditions } from "../status-corrected.ts";
import { countingCollisions } from "../taken-name.ts";
import { retainClaims } from "./claim-retention.ts";
import { claimsOf, isClaimOf, memberPod, seeClaims } from "./member-pod.ts";
import { planStatefulSet, type StatefulStep } from "./plan.ts";
import { ordinalOf, ordinalsOf, seePods, type Seen } from "./seen.ts";
import { statefulSetStatus } from "./stateful-set-status.ts";

/** How long a refused creation or deletion waits for its next try. */
const retryMs = 5_000;

/** Pods with an identity: a name, claims and an order that survive the pod. */
export const statefulSets: ControllerDefinition = controller(StatefulSet, {
  name: "statefulset",
  eventSource: "statefulset-controller",
  predicate: changesMoreThanConditions,
  owns: [Pod, ControllerRevision],
  watches: [
    watchingOrphans(Pod, StatefulSet),
    watching(PersistentVolumeClaim, (claim, cache) =>
      cache
        .list(StatefulSet, { namespace: claim.metadata.namespace })
        .filter((set) => isClaimOf(set, claim.metadata.name))
        .map(keyOf),
    ),
  ],
  reconcile: (set, context) => countingCollisions(set, context, () => reconcileMembers(set, context)),
});

async function reconcileMembers(set: Stored<StatefulSet>, context: ReconcileContext): Promise<Result | void> {
  const collisions = set.status?.collisionCount ?? 0;
  const { seen, history } = await observe(set, collisions, context);
  const plan = planStatefulSet(seen);
  await retainClaims(seen, context);
  await context.status(statefulSetStatus(seen, collisions));
  const refusal = await act(plan.steps, seen, history, context);
  await truncateHistory(history, revisionsInUse(seen), set.spec?.revisionHistoryLimit ?? 10, context);
  if (refusal !== undefined) return requeueAfter(retryMs, refusal);
  return next(plan.recheckMs);
}

function next(recheckMs: number | undefined): Result | undefined {
  return recheckMs === undefined ? undefined : requeueAfter(recheckMs, "a ready pod is not yet available");
}

async function observe(
  set: Stored<StatefulSet>,
  collisions: number,
  context: ReconcileContext,
): Promise<{ readonly seen: Seen; readonly history: TemplateHistory }> {
  if (set.spec === undefined) throw new Error(`StatefulSet "${set.metadata.name}" has no spec`);
  const claimer = { kind: StatefulSet, object: set, selector: set.spec.selector };
  const isNamedAsMember = (pod: Stored<Pod>): boolean => ordinalOf(set.metadata.name, pod.metadata.name) !== undefined;
  const pods = await claimChildren(Pod, claimer, context, isNamedAsMember);
  const history = await recordTemplate({ object: set, template: set.spec.template, collisions }, context);
  const updateRevision = history.at(-1)?.metadata.name ?? "";
  const recorded = history.find(({ metadata }) => metadata.name === set.status?.currentRevision);
  const ordinals = ordinalsOf(set);
  const seen = {
    set,
    ordinals,
    claims: seeClaims(set, ordinals, (name) => context.get(PersistentVolumeClaim, name)),
    pods: seePods(set, pods, context.host.clock.now()),
    currentRevision: recorded?.metadata.name ?? updateRevision,
    updateRevision,
  };
  return { seen, history };
}

function revisionsInUse({ pods, currentRevision, updateRevision }: Seen): ReadonlySet<string> {
  return new Set([currentRevision, updateRevision, ...pods.map(({ revision }) => revision)]);
}

/** The sentence of the first refusal; the steps after it wait for the next pass. */
async function act(
  steps: readonly StatefulStep[],
  seen: Seen,
  history: TemplateHistory,
  context: ReconcileContext,
): Promise<string | undefined> {
  for (const step of steps) {
    const result = await outcome(perform(step, seen, history, context));
    if (result.kind === "unknown") throw result.error;
    if (result.kind === "refused") return refused(step, seen, result.error, context);
  }
  return undefined;
}

function perform(step: StatefulStep, seen: Seen, history: TemplateHistory, context: ReconcileContext): Promise<void> {
  if (step.kind === "create") return create(step, seen, history, context);
  if (step.kind === "delete") return remove(step, seen, context);
  return createClaims(seen.set, step.ordinal, context);
}

function refused(step: StatefulStep, { set }: Seen, error: Error, context: ReconcileContext): string {
  const [verb, pod] =
    step.kind === "delete"
      ? ["Delete", step.pod.pod.metadata.name]
      : ["Create", `${set.metadata.name}-${step.ordinal}`];
  const message = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${error.message}`;
  context.event("Warning", verb === "Create" ? "FailedCreate" : "FailedDelete", message);
  return message;
}

/** Claims first: a pod must not start without its data. */
async function create(
  { ordinal, revision }: Extract<StatefulStep, { kind: "create" }>,
  { set }: Seen,
  history: TemplateHistory,
  context: ReconcileContext,
): Promise<void> {
  await createClaims(set, ordinal, context);
  const recorded = history.find(({ metadata }) => metadata.name === revision);
  if (recorded === undefined) throw new Error(`ControllerRevision "${revision}" is not there`);
  const pod = await context.create(memberPod(set, ordinal, revision, templateOf(recorded)));
  context.event(
    "Normal",
    "SuccessfulCreate",
    `Create Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name} successful`,
  );
}

async function createClaims(set: Stored<StatefulSet>, ordinal: number, context: ReconcileContext): Promise<void> {
  for (const claim of claimsOf(set, ordinal)) await createClaim(claim, set, ordinal, context);
}

async function createClaim(
  claim: PersistentVolumeClaim,
  set: Stored<StatefulSet>,
  ordinal: number,
  context: ReconcileContext,
): Promise<void> {
  const { name = "" } = claim.metadata;
  if (context.get(PersistentVolumeClaim, name) !== undefined) return;
  const result = await outcome(context.create(claim, { owner: false }));
  if (result.kind === "refused" && isAlreadyExists(result.error)) return;
  if (result.kind !== "done") throw result.error;
  const what = `Create Claim ${name} Pod ${set.metadata.name}-${ordinal} in StatefulSet ${set.metadata.name} success`;
  context.event("Normal", "SuccessfulCreate", what);
}

async function remove(
  { pod: { pod }, why }: Extract<StatefulStep, { kind: "delete" }>,
  { set }: Seen,
  context: ReconcileContext,
): Promise<void> {
  await context.delete(pod);
  const { name } = pod.metadata;
  const deleted = `Delete Pod ${name} in StatefulSet ${set.metadata.name} successful`;
  if (why !== "finished") context.event("Normal", "SuccessfulDelete", deleted);
  else
    context.event(
      "Warning",
      "RecreatingFailedPod",
      `StatefulSet ${set.metadata.namespace}/${set.metadata.name} is recreating failed Pod ${name}`,
    );
}
