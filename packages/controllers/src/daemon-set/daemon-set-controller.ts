import { ControllerRevision, DaemonSet, Node, Pod } from "@setpoint/api";
import { deepEqual } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { randomSuffix } from "@setpoint/host";
import {
  controller,
  keyOf,
  outcome,
  requeueAfter,
  type ControllerDefinition,
  type ReconcileContext,
  type Result,
} from "@setpoint/runtime";
import { claimChildren, watchingOrphans } from "../claim-children.ts";
import {
  recordTemplate,
  revisionHashLabel,
  truncateHistory,
  type TemplateHistory,
} from "../revisions/template-history.ts";
import { countingCollisions } from "../taken-name.ts";
import { daemonPod } from "./daemon-pod.ts";
import { daemonSetStatus } from "./daemon-set-status.ts";
import { FailedPodBackOff } from "./failed-pod-back-off.ts";
import { planDaemonSet, type DaemonStep } from "./plan.ts";
import { see, type Seen } from "./seen.ts";
import { changesMoreThanConditions } from "../status-corrected.ts";

/** How long a refused creation or deletion waits for its next try. */
const retryMs = 5_000;

/**
 * One pod on each node that fits. Each manager has a controller of its own: it remembers which pods failed.
 */
export function daemonSets(): ControllerDefinition {
  const failures = new FailedPodBackOff();
  return controller(DaemonSet, {
    name: "daemonset",
    eventSource: "daemonset-controller",
    predicate: changesMoreThanConditions,
    owns: [Pod, ControllerRevision],
    watches: [
      watchingOrphans(Pod, DaemonSet),
      {
        of: Node,
        wakes: (_node, cache) => cache.list(DaemonSet, { allNamespaces: true }).map(keyOf),
        predicate: changesPlaces,
      },
    ],
    reconcile: (set, context) => countingCollisions(set, context, () => reconcileDaemons(set, failures, context)),
  });
}

/** Most writes of a Node are heartbeats. */
function changesPlaces(old: Stored<Node>, next: Stored<Node>): boolean {
  return !deepEqual(old.metadata.labels, next.metadata.labels) || !deepEqual(old.spec, next.spec);
}

async function reconcileDaemons(
  set: Stored<DaemonSet>,
  failures: FailedPodBackOff,
  context: ReconcileContext,
): Promise<Result | void> {
  const collisions = set.status?.collisionCount ?? 0;
  const { seen, history, hash } = await observe(set, collisions, failures, context);
  const plan = planDaemonSet(seen);
  await context.status(daemonSetStatus(seen, collisions));
  for (const step of plan.steps) {
    const refusal = await act(step, { set, hash, failures }, context);
    if (refusal !== undefined) return requeueAfter(retryMs, refusal);
  }
  await truncateHistory(history, revisionsInUse(seen, history), set.spec.revisionHistoryLimit ?? 10, context);
  if (plan.recheckMs !== undefined)
    return requeueAfter(plan.recheckMs, "a pod is not yet available, or failed and is not yet replaced");
}

async function observe(
  set: Stored<DaemonSet>,
  collisions: number,
  failures: FailedPodBackOff,
  context: ReconcileContext,
): Promise<{ readonly seen: Seen; readonly history: TemplateHistory; readonly hash: string }> {
  const pods = await claimChildren(Pod, { kind: DaemonSet, object: set, selector: set.spec.selector }, context);
  const { template } = set.spec;
  const history = await recordTemplate({ object: set, template, collisions, hashLabel: revisionHashLabel }, context);
  const hash = history.at(-1)?.metadata.labels?.[revisionHashLabel] ?? "";
  const nowMs = context.host.clock.now();
  const untilRetryMs = (node: string): number => failures.untilRetryMs(backOffKey(set, node), nowMs);
  return { seen: see({ set, nodes: context.list(Node), pods, hash, nowMs, untilRetryMs }), history, hash };
}

/** A changed template is tried at once. */
function backOffKey({ metadata: { uid, generation = 0 } }: Stored<DaemonSet>, node: string): string {
  return `${uid}/${generation}/${node}`;
}

function revisionsInUse({ nodes }: Seen, history: TemplateHistory): ReadonlySet<string> {
  const hashes = new Set(nodes.flatMap(({ pods }) => pods.map(({ pod }) => pod.metadata.labels?.[revisionHashLabel])));
  const used = history.filter(({ metadata }) => hashes.has(metadata.labels?.[revisionHashLabel]));
  return new Set([...used, ...history.slice(-1)].map(({ metadata }) => metadata.name));
}

interface Acting {
  readonly set: Stored<DaemonSet>;
  readonly hash: string;
  readonly failures: FailedPodBackOff;
}

/** The sentence of a refusal; the steps after it wait for the next pass. */
async function act(step: DaemonStep, acting: Acting, context: ReconcileContext): Promise<string | undefined> {
  const result = await outcome(step.kind === "create" ? create(step, acting, context) : remove(step, acting, context));
  if (result.kind === "unknown") throw result.error;
  if (result.kind === "done") return undefined;
  const [reason, verb] = step.kind === "create" ? ["FailedCreate", "creating"] : ["FailedDelete", "deleting"];
  context.event("Warning", reason, `Error ${verb}: ${result.error.message}`);
  return result.error.message;
}

async function create(
  { node }: Extract<DaemonStep, { kind: "create" }>,
  { set, hash }: Acting,
  context: ReconcileContext,
): Promise<void> {
  const name = `${set.metadata.name.slice(0, 57)}-${randomSuffix(context.host.random, 5)}`;
  await context.create(daemonPod(set, name, node, hash));
  context.event("Normal", "SuccessfulCreate", `Created pod: ${name}`);
}

async function remove(
  { pod: { pod }, node, why }: Extract<DaemonStep, { kind: "delete" }>,
  { set, failures }: Acting,
  context: ReconcileContext,
): Promise<void> {
  const { name, namespace } = pod.metadata;
  const found = `${why} daemon pod ${namespace}/${name} on node ${node}`;
  if (why === "failed") context.event("Warning", "FailedDaemonPod", `Found ${found}, will try to kill it`);
  if (why === "succeeded") context.event("Normal", "SucceededDaemonPod", `Found ${found}, will try to delete it`);
  if (why === "failed") failures.replaced(backOffKey(set, node), context.host.clock.now());
  await context.delete(pod);
  context.event("Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
}
