/**
 * What a DaemonSet does next, as upstream's controller does (kubernetes-api.md 10.4): first one pod for each
 * node that should have one, then the rolling update, within what may be unavailable or surplus.
 */
import type { DaemonSet } from "@setpoint/api";
import { resolvePercent } from "../deployment/rolling-update.ts";
import type { Seen, SeenNode, SeenPod } from "./seen.ts";

/** One change. */
export type DaemonStep =
  | { readonly kind: "create"; readonly node: string }
  | { readonly kind: "delete"; readonly pod: SeenPod; readonly node: string; readonly why: DeletionCause };

/** Why a pod is deleted. */
export type DeletionCause = "failed" | "succeeded" | "misplaced" | "surplus" | "outdated";

/** The changes of one pass, and what it waits for. */
export interface DaemonPlan {
  readonly steps: readonly DaemonStep[];
  /** Set when only time has to pass: a pod becomes available, a failed pod may be replaced. */
  readonly recheckMs?: number;
}

/** Pure: the same view always gives the same plan. */
export function planDaemonSet(seen: Seen): DaemonPlan {
  const kept = [
    ...seen.strays.map((pod) => remove(pod, "", "misplaced")),
    ...seen.nodes.flatMap((node) => keep(node, seen)),
  ];
  const steps = kept.length > 0 ? kept : update(seen);
  const waits = seen.nodes
    .flatMap(({ pods }) => pods)
    .flatMap((pod) => [pod.untilRetryMs, pod.untilAvailableMs ?? 0])
    .filter((ms) => ms > 0);
  return waits.length === 0 ? { steps } : { steps, recheckMs: Math.min(...waits) };
}

/** One pod where one should be, none where none may be. */
function keep(node: SeenNode, { set }: Seen): readonly DaemonStep[] {
  const present = node.pods.filter(({ terminating }) => !terminating);
  if (!node.mayStay) return present.map((pod) => remove(pod, node.name, "misplaced"));
  if (node.shouldRun && node.pods.length === 0) return [{ kind: "create", node: node.name }];
  const ended = present.filter(({ failed, succeeded, untilRetryMs }) => succeeded || (failed && untilRetryMs === 0));
  const running = present.filter(({ failed, succeeded }) => !failed && !succeeded);
  return [
    ...ended.map((pod) => remove(pod, node.name, pod.failed ? "failed" : "succeeded")),
    ...surplus(running, allowsSurge(set)).map((pod) => remove(pod, node.name, "surplus")),
  ];
}

/** With a surge an old pod stays beside a new one until the new one is available. */
function surplus(running: readonly SeenPod[], surges: boolean): readonly SeenPod[] {
  if (!surges) return running.slice(1);
  const oldest = running.find(({ updated }) => !updated);
  const newest = running.find(({ updated }) => updated);
  const isReplaced = oldest !== undefined && newest !== undefined && (!oldest.ready || isAvailable(newest));
  return running.filter((pod) => pod !== newest && (pod !== oldest || isReplaced));
}

function update(seen: Seen): readonly DaemonStep[] {
  if (seen.set.spec.updateStrategy?.type === "OnDelete") return [];
  const nodes = seen.nodes.filter(({ shouldRun, pods }) => shouldRun || pods.length > 0);
  return allowsSurge(seen.set) ? surge(nodes, seen) : replace(nodes, seen);
}

/** Deletes old pods that are unavailable anyway, and of the others as many as may be unavailable. */
function replace(nodes: readonly SeenNode[], seen: Seen): readonly DaemonStep[] {
  const only = nodes.map((node) => ({ node, pod: node.pods.length === 1 ? node.pods[0] : undefined }));
  const broken = only.filter(({ pod }) => pod === undefined || pod.terminating || !isAvailable(pod));
  const spare = Math.max(0, limitOf(seen, "maxUnavailable") - broken.length);
  const outdated = only.flatMap(({ node, pod }) =>
    pod === undefined || pod.updated || pod.terminating ? [] : [{ node, pod }],
  );
  const healthy = outdated.filter(({ pod }) => isAvailable(pod)).slice(0, spare);
  return [...outdated.filter(({ pod }) => !isAvailable(pod)), ...healthy].map(({ node, pod }) =>
    remove(pod, node.name, "outdated"),
  );
}

/**
 * Creates new pods beside old ones, as many as may be surplus; an old pod goes when the new one is available.
 */
function surge(nodes: readonly SeenNode[], seen: Seen): readonly DaemonStep[] {
  const views = nodes.map((node) => ({
    node,
    old: node.pods.filter(({ updated }) => !updated),
    now: node.pods.filter(({ updated }) => updated),
  }));
  const beside = views.filter(({ old, now }) => old.length > 0 && now.length > 0);
  const surging = beside.filter(({ now }) => !now.some(isAvailable));
  const waiting = views.filter(({ node, old, now }) => node.shouldRun && now.length === 0 && old.length > 0);
  const isBroken = ({ old }: (typeof views)[number]): boolean => !old.some(isAvailable);
  const spare = Math.max(0, limitOf(seen, "maxSurge") - surging.length);
  const next = [...waiting.filter(isBroken), ...waiting.filter((each) => !isBroken(each)).slice(0, spare)];
  return [
    ...beside
      .filter(({ now }) => now.some(isAvailable))
      .flatMap(({ node, old }) =>
        old.filter(({ terminating }) => !terminating).map((pod) => remove(pod, node.name, "outdated")),
      ),
    ...next.map(({ node }): DaemonStep => ({ kind: "create", node: node.name })),
  ];
}

/** Of the nodes that should have a pod; percentages are rounded up. */
function limitOf(seen: Seen, field: "maxSurge" | "maxUnavailable"): number {
  const { maxSurge = 0, maxUnavailable = 1 } = seen.set.spec.updateStrategy?.rollingUpdate ?? {};
  const desired = seen.nodes.filter(({ shouldRun }) => shouldRun).length;
  return resolvePercent(field === "maxSurge" ? maxSurge : maxUnavailable, desired, "up");
}

function allowsSurge({ spec: { updateStrategy } }: DaemonSet): boolean {
  const { maxSurge = 0 } = updateStrategy?.rollingUpdate ?? {};
  return updateStrategy?.type !== "OnDelete" && maxSurge !== 0 && maxSurge !== "0%";
}

function isAvailable(pod: SeenPod): boolean {
  return !pod.terminating && pod.ready && pod.untilAvailableMs === 0;
}

function remove(pod: SeenPod, node: string, why: DeletionCause): DaemonStep {
  return { kind: "delete", pod, node, why };
}
