import { HorizontalPodAutoscaler, Pod } from "@setpoint/api";
import { deepEqual, type LabelSelector, messageOf, parseLabelSelector } from "@setpoint/apimachinery";
import type { Scale, Stored } from "@setpoint/client";
import { timestamp } from "@setpoint/host";
import {
  controller,
  outcome,
  requeueAfter,
  watching,
  type ControllerDefinition,
  type ReconcileContext,
} from "@setpoint/runtime";
import { type ConditionChange, nextStatus, type StatusChange } from "./autoscaler-status.ts";
import { type MetricsOutcome, proposeByMetrics } from "./metric-proposals.ts";
import { findTarget, type ScaleTarget } from "./scale-target.ts";
import { ScalingMemory } from "./scaling-memory.ts";
import { applyRules, type RuledReplicas } from "./scaling-rules.ts";

/** As `--horizontal-pod-autoscaler-sync-period` of upstream. */
const periodMs = 15_000;

/** Scales any kind with a `scale` subresource by what its pods use. */
export function horizontalPodAutoscalers(): ControllerDefinition {
  const memory = new ScalingMemory();
  return controller(HorizontalPodAutoscaler, {
    name: "horizontalpodautoscaler",
    eventSource: "horizontal-pod-autoscaler",
    // It has no generation.
    predicate: (old, next) => !deepEqual(old.spec, next.spec),
    // Read from time to time: what pods use changes without an event.
    watches: [watching(Pod, () => [])],
    async reconcile(autoscaler, context) {
      const all = context.list(HorizontalPodAutoscaler, { allNamespaces: true });
      memory.keep(new Set(all.map(({ metadata }) => metadata.uid)));
      await writeStatus(autoscaler, await autoscale(autoscaler, memory, context), context);
      return requeueAfter(periodMs, "compare what the pods use with the targets");
    },
  });
}

type Autoscaler = Stored<HorizontalPodAutoscaler>;

async function writeStatus(autoscaler: Autoscaler, change: StatusChange, context: ReconcileContext): Promise<void> {
  const status = nextStatus(autoscaler, change, timestamp(context.host.clock));
  if (status === undefined) return;
  const { client, controller: own, signal } = context;
  const options = { fieldManager: own.fieldManager, signal };
  await client.updateStatus(HorizontalPodAutoscaler, { ...autoscaler, status }, options);
}

async function autoscale(
  autoscaler: Autoscaler,
  memory: ScalingMemory,
  context: ReconcileContext,
): Promise<StatusChange> {
  const target = await findTarget(autoscaler, context);
  if (typeof target === "string") {
    context.event("Warning", "FailedGetScale", target);
    const message = `the HPA controller was unable to get the target's current scale: ${target}`;
    return { conditions: [{ type: "AbleToScale", status: "False", reason: "FailedGetScale", message }] };
  }
  memory.setSelector(autoscaler.metadata.uid, target.scale.selector);
  const { replicas } = target.scale;
  const { minReplicas = 1, maxReplicas } = autoscaler.spec;
  if (replicas === 0) return { conditions: [gotScale, disabled], counts: counted(target.scale, 0) };
  const toMaximum = "Current number of replicas above Spec.MaxReplicas";
  const toMinimum = "Current number of replicas below Spec.MinReplicas";
  const nowMs = context.host.clock.now();
  if (memory.history(autoscaler.metadata.uid, nowMs).recommendations.length === 0)
    memory.recommend(autoscaler.metadata.uid, { atMs: nowMs, replicas });
  const rescaling = { autoscaler, target, memory, context };
  if (replicas > maxReplicas) return rescale(rescaling, { replicas: maxReplicas, why: toMaximum, conditions: [] });
  if (replicas < minReplicas) return rescale(rescaling, { replicas: minReplicas, why: toMinimum, conditions: [] });
  return scaleByMetrics(rescaling);
}

const gotScale: ConditionChange = {
  type: "AbleToScale",
  status: "True",
  reason: "SucceededGetScale",
  message: "the HPA controller was able to get the target's current scale",
};
const disabled: ConditionChange = {
  type: "ScalingActive",
  status: "False",
  reason: "ScalingDisabled",
  message: "scaling is disabled since the replica count of the target is zero",
};

function counted(
  { replicas }: Scale,
  desiredReplicas: number,
  currentMetrics: MetricsOutcome["statuses"] = [],
): NonNullable<StatusChange["counts"]> {
  return { currentReplicas: replicas, desiredReplicas, currentMetrics };
}

interface Rescaling {
  readonly autoscaler: Autoscaler;
  readonly target: ScaleTarget;
  readonly memory: ScalingMemory;
  readonly context: ReconcileContext;
}

async function scaleByMetrics(rescaling: Rescaling): Promise<StatusChange> {
  const { autoscaler, target, memory, context } = rescaling;
  const { scale } = target;
  const pods = selectPods(rescaling);
  if ("reason" in pods) return { conditions: [gotScale, inactive(pods.reason, pods.message)], ...kept(rescaling) };
  const metrics = await proposeByMetrics({ autoscaler, scale, pods: pods.selected }, context);
  for (const { reason, message } of metrics.failures) context.event("Warning", reason, message);
  const { proposed, statuses } = metrics;
  if (proposed === undefined) return uncomputed(rescaling, metrics);
  const { uid } = autoscaler.metadata;
  const nowMs = context.host.clock.now();
  const { minReplicas: min = 1, maxReplicas: max, behavior } = autoscaler.spec;
  const ruled = applyRules({
    ...{ behavior, min, max, nowMs, current: scale.replicas, recommended: proposed.replicas },
    history: memory.history(uid, nowMs),
  });
  memory.recommend(uid, { atMs: nowMs, replicas: proposed.replicas });
  const conditions = [able(ruled), active(proposed.metric), limited(ruled)];
  if (ruled.replicas === scale.replicas) return { conditions, counts: counted(scale, scale.replicas, statuses) };
  const why = proposed.replicas > scale.replicas ? `${proposed.metric} above target` : "All metrics below target";
  return rescale(rescaling, { replicas: ruled.replicas, why, conditions, statuses });
}

function inactive(reason: string, message: string): ConditionChange {
  return { type: "ScalingActive", status: "False", reason, message };
}

function active(metric: string): ConditionChange {
  const message = `the HPA was able to successfully calculate a replica count from ${metric}`;
  return { type: "ScalingActive", status: "True", reason: "ValidMetricFound", message };
}

function able({ ability: { reason, message } }: RuledReplicas): ConditionChange {
  return { type: "AbleToScale", status: "True", reason, message };
}

function limited({ limit: { isLimited, reason, message } }: RuledReplicas): ConditionChange {
  return { type: "ScalingLimited", status: isLimited ? "True" : "False", reason, message };
}

/** The present counts, while nothing new can be computed. */
function kept({ autoscaler, target }: Rescaling, statuses?: MetricsOutcome["statuses"]): Pick<StatusChange, "counts"> {
  return { counts: counted(target.scale, autoscaler.status?.desiredReplicas ?? 0, statuses) };
}

function uncomputed(rescaling: Rescaling, { failures, failure, statuses }: MetricsOutcome): StatusChange {
  rescaling.context.event("Warning", "FailedComputeMetricsReplicas", failure);
  const { reason = "", message = "" } = failures[0] ?? {};
  const condition = inactive(reason, `the HPA was unable to compute the replica count: ${message}`);
  return { conditions: [gotScale, condition], ...kept(rescaling, statuses) };
}

interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** The pods of the target, or why this autoscaler must not count them. */
function selectPods({
  autoscaler,
  target,
  memory,
  context,
}: Rescaling): { selected: readonly Stored<Pod>[] } | Problem {
  const { selector } = target.scale;
  if (selector === "") {
    context.event("Warning", "SelectorRequired", "selector is required");
    return { reason: "InvalidSelector", message: "the HPA target's scale is missing a selector" };
  }
  const parsed = parseSelector(selector);
  if (typeof parsed === "string") {
    const message = `couldn't convert selector into a corresponding internal selector object: ${parsed}`;
    context.event("Warning", "InvalidSelector", message);
    return { reason: "InvalidSelector", message };
  }
  const selected = context.list(Pod).filter(({ metadata }) => parsed.matches(metadata.labels ?? {}));
  const rivals = context.list(HorizontalPodAutoscaler).filter((each) => selectsAny(each, selected, memory));
  if (rivals.length <= 1 || !rivals.some(({ metadata }) => metadata.uid === autoscaler.metadata.uid))
    return { selected };
  const names = rivals.map(({ metadata }) => `{${metadata.name} ${metadata.namespace ?? ""}}`).join(" ");
  const message = `pods by selector ${selector} are controlled by multiple HPAs: [${names}]`;
  context.event("Warning", "AmbiguousSelector", message);
  return { reason: "AmbiguousSelector", message };
}

function selectsAny({ metadata }: Autoscaler, pods: readonly Stored<Pod>[], memory: ScalingMemory): boolean {
  const selector = memory.selectorOf(metadata.uid);
  const parsed = selector === "" ? "" : parseSelector(selector);
  return typeof parsed !== "string" && pods.some((pod) => parsed.matches(pod.metadata.labels ?? {}));
}

function parseSelector(text: string): LabelSelector | string {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    return messageOf(error);
  }
}

interface Rescale {
  readonly replicas: number;
  readonly why: string;
  readonly conditions: readonly ConditionChange[];
  readonly statuses?: MetricsOutcome["statuses"];
}

async function rescale(
  { autoscaler, target, memory, context }: Rescaling,
  { replicas, why, conditions, statuses }: Rescale,
): Promise<StatusChange> {
  const { kind, scale } = target;
  const { name } = autoscaler.spec.scaleTargetRef;
  const key = { name, namespace: autoscaler.metadata.namespace ?? "" };
  const written = await outcome(context.client.scale(kind, key, replicas, { signal: context.signal }));
  if (written.kind === "unknown") throw written.error;
  if (written.kind === "refused") {
    const { message } = written.error;
    context.event("Warning", "FailedRescale", `New size: ${replicas}; reason: ${why}; error: ${message}`);
    const failed = `the HPA controller was unable to update the target scale: ${message}`;
    const condition = { type: "AbleToScale", status: "False", reason: "FailedUpdateScale", message: failed } as const;
    const desired = autoscaler.status?.desiredReplicas ?? 0;
    return { conditions: [...conditions, condition], counts: counted(scale, desired, statuses) };
  }
  context.event("Normal", "SuccessfulRescale", `New size: ${replicas}; reason: ${why}`);
  memory.scaled(autoscaler.metadata.uid, { atMs: context.host.clock.now(), change: replicas - scale.replicas });
  const message = `the HPA controller was able to update the target scale to ${replicas}`;
  const condition = { type: "AbleToScale", status: "True", reason: "SucceededRescale", message } as const;
  return {
    conditions: [...conditions, condition],
    counts: counted(scale, replicas, statuses),
    scaledAt: timestamp(context.host.clock),
  };
}
