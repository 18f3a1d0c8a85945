/** How many replicas one resource metric asks for; pure. */
import type { Container, Pod } from "@setpoint/api";
import { parseQuantity, quantityMilliValue } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/** What a pod used, in thousandths of the resource's unit. */
export interface PodUsage {
  readonly milli: number;
  readonly atMs: number;
  readonly windowMs: number;
}

/** How far the ratio of usage and target may be from 1 before anything changes. */
export interface Tolerance {
  readonly up: number;
  readonly down: number;
}

/** A share of what the pods request in percent, or an amount for each pod in thousandths. */
export type UsageTarget =
  | { readonly kind: "utilization"; readonly percent: number }
  | { readonly kind: "average"; readonly milli: number };

export interface UsageView {
  readonly currentReplicas: number;
  /** All that the target's selector matches. */
  readonly pods: readonly Stored<Pod>[];
  /** By the pod's name. */
  readonly usage: ReadonlyMap<string, PodUsage>;
  readonly resource: string;
  /** Absent: all containers of a pod together. */
  readonly container?: string;
  readonly target: UsageTarget;
  readonly tolerance: Tolerance;
  readonly nowMs: number;
}

/** What the metric asks for, and what was measured: of each pod on average, and in percent of its request. */
export interface Proposal {
  readonly replicas: number;
  readonly averageMilli: number;
  readonly utilization?: number;
}

/** A pod's first minutes use more than its work does. */
const initializationMs = 300_000;
/** A pod that became unready this soon after its start has never been ready. */
const firstReadinessMs = 30_000;

interface Groups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  /** Of ready pods. */
  readonly used: ReadonlyMap<string, number>;
}

/** The proposal, or the reason why there is none. */
export function proposeReplicas(view: UsageView): Proposal | string {
  const { pods, target } = view;
  if (pods.length === 0) return "no pods returned by selector while calculating replica count";
  const groups = groupPods(view);
  if (groups.used.size === 0) return "did not receive metrics for targeted pods (pods might be unready)";
  const requests = target.kind === "utilization" ? requestsOf(view) : new Map<string, number>();
  if (typeof requests === "string") return requests;
  const measured = measure(groups.used, requests, target);
  if (typeof measured === "string") return measured;
  return { replicas: replicasFor(view, groups, requests, measured), ...measured.shown };
}

interface Measured {
  readonly ratio: number;
  readonly shown: Omit<Proposal, "replicas">;
}

function measure(
  used: ReadonlyMap<string, number>,
  requests: ReadonlyMap<string, number>,
  target: UsageTarget,
): Measured | string {
  const total = sum(used.values());
  const averageMilli = Math.trunc(total / used.size);
  if (target.kind === "average") return { ratio: averageMilli / target.milli, shown: { averageMilli } };
  const requested = sum([...used.keys()].map((name) => requests.get(name) ?? 0));
  if (requested === 0) return "no metrics returned matched known pods";
  const utilization = Math.trunc((total * 100) / requested);
  return { ratio: utilization / target.percent, shown: { averageMilli, utilization } };
}

/** Pods without a measurement never make a change larger, and never turn its direction. */
function replicasFor(
  { currentReplicas, target, tolerance }: UsageView,
  { ready, unready, missing, used }: Groups,
  requests: ReadonlyMap<string, number>,
  { ratio }: Measured,
): number {
  const waitsForUnready = unready.length > 0 && ratio > 1;
  if (!waitsForUnready && missing.length === 0)
    return isWithin(ratio, tolerance) ? currentReplicas : Math.ceil(ratio * ready);
  const assumed = new Map(used);
  const inFull = (name: string): number =>
    target.kind === "average" ? target.milli : ((requests.get(name) ?? 0) * Math.max(100, target.percent)) / 100;
  if (ratio !== 1) for (const name of missing) assumed.set(name, ratio < 1 ? inFull(name) : 0);
  if (waitsForUnready) for (const name of unready) assumed.set(name, 0);
  const again = measure(assumed, requests, target);
  if (typeof again === "string") return currentReplicas;
  const turns = (ratio < 1 && again.ratio > 1) || (ratio > 1 && again.ratio < 1);
  if (isWithin(again.ratio, tolerance) || turns) return currentReplicas;
  const replicas = Math.ceil(again.ratio * assumed.size);
  const goesBack = again.ratio < 1 ? replicas > currentReplicas : replicas < currentReplicas;
  return goesBack ? currentReplicas : replicas;
}

function isWithin(ratio: number, { up, down }: Tolerance): boolean {
  return ratio >= 1 - down && ratio <= 1 + up;
}

function groupPods(view: UsageView): Groups {
  const unready: string[] = [];
  const missing: string[] = [];
  const used = new Map<string, number>();
  for (const pod of view.pods) {
    const { name, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined || pod.status?.phase === "Failed") continue;
    const usage = view.usage.get(name);
    if ((pod.status?.phase ?? "Pending") === "Pending") unready.push(name);
    else if (usage === undefined) missing.push(name);
    else if (view.resource === "cpu" && isUnready(pod, usage, view.nowMs)) unready.push(name);
    else used.set(name, usage.milli);
  }
  return { ready: used.size, unready, missing, used };
}

/** While it starts, a measurement counts only when the pod was ready during all of it. */
function isUnready({ status }: Pod, { atMs, windowMs }: PodUsage, nowMs: number): boolean {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || status?.startTime === undefined) return true;
  const startedAtMs = Date.parse(status.startTime);
  const sinceMs = Date.parse(ready.lastTransitionTime ?? status.startTime);
  const isFalse = ready.status === "False";
  if (startedAtMs + initializationMs > nowMs) return isFalse || atMs < sinceMs + windowMs;
  return isFalse && startedAtMs + firstReadinessMs > sinceMs;
}

/** In thousandths by the pod's name; the first pod without a request when one has none. */
function requestsOf({ pods, resource, container }: UsageView): ReadonlyMap<string, number> | string {
  const requests = new Map<string, number>();
  for (const pod of pods) {
    const request = requestOf(pod, resource, container);
    if (typeof request === "string") return request;
    requests.set(pod.metadata.name, request);
  }
  return requests;
}

function requestOf(pod: Stored<Pod>, resource: string, container: string | undefined): number | string {
  const { name } = pod.metadata;
  const own = container === undefined ? pod.spec?.resources?.requests?.[resource] : undefined;
  if (own !== undefined) return milliOf(own);
  const counted = longRunning(pod).filter((each) => container === undefined || each.name === container);
  if (counted.length === 0 && container !== undefined) return `container ${container} not found in Pod ${name}`;
  const without = counted.find((each) => each.resources?.requests?.[resource] === undefined);
  if (without !== undefined) return `missing request for ${resource} in container ${without.name} of Pod ${name}`;
  return sum(counted.map((each) => milliOf(each.resources?.requests?.[resource] ?? "0")));
}

function longRunning({ spec }: Pod): readonly Container[] {
  const sidecars = spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
  return [...(spec?.containers ?? []), ...sidecars];
}

export function milliOf(quantity: string): number {
  return Number(quantityMilliValue(parseQuantity(quantity)));
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}
