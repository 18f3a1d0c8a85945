/**
 * How a Deployment whose `replicas` changed during a rollout, or which is paused, divides them over its
 * ReplicaSets; pure.
 */
import type { SetCount, Sizes } from "./rolling-update.ts";

export interface ScaledSet extends SetCount {
  /** The Deployment's replicas when this set was last sized; undefined when nothing says it. */
  readonly desired: number | undefined;
  /** The replicas and the surge of that time. */
  readonly maxReplicas: number | undefined;
  readonly createdAt: string;
}

export interface ScalingState {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly isRolling: boolean;
  /** What the Deployment's status counts. */
  readonly reportedReplicas: number;
  /** Undefined while no set has the Deployment's template. */
  readonly current: ScaledSet | undefined;
  /** Oldest first. */
  readonly old: readonly ScaledSet[];
}

/** Whether `replicas` changed since the sets with pods were sized. */
export function isScaled(replicas: number, sets: readonly ScaledSet[]): boolean {
  return sets.some(({ wanted, desired }) => wanted > 0 && desired !== undefined && desired !== replicas);
}

/** New sizes by name; a set that keeps its size is named too when it was sized for other `replicas`. */
export function planScaling(state: ScalingState): Sizes {
  const { replicas, current, old } = state;
  const active = [...old, ...(current === undefined ? [] : [current])].filter(({ wanted }) => wanted > 0);
  if (active.length < 2) {
    const only = active[0] ?? current ?? old.at(-1);
    return new Map(only === undefined ? [] : [[only.name, replicas]]);
  }
  if (isSaturated(replicas, current))
    return new Map(active.map(({ name }) => [name, name === current?.name ? replicas : 0]));
  return state.isRolling ? divided(state, active) : new Map();
}

function isSaturated(replicas: number, current: ScaledSet | undefined): boolean {
  return current?.wanted === replicas && current.desired === replicas && current.available === replicas;
}

/** The surplus goes to the sets by their size; what rounding leaves goes to the largest. */
function divided(state: ScalingState, active: readonly ScaledSet[]): Sizes {
  const allowed = state.replicas > 0 ? state.replicas + state.maxSurge : 0;
  const missing = allowed - active.reduce((sum, { wanted }) => sum + wanted, 0);
  const sizes = new Map<string, number>();
  let left = missing;
  const sorted = active.toSorted((a, b) => b.wanted - a.wanted || byAge(a, b) * (missing > 0 ? -1 : 1));
  for (const set of sorted) {
    const share = left === 0 ? 0 : towards(left, shareOf(set, state));
    sizes.set(set.name, set.wanted + share);
    left -= share;
  }
  const [largest] = sorted;
  if (largest !== undefined) sizes.set(largest.name, Math.max(0, (sizes.get(largest.name) ?? 0) + left));
  return sizes;
}

function byAge(a: ScaledSet, b: ScaledSet): number {
  return Date.parse(a.createdAt) - Date.parse(b.createdAt);
}

/** A share that does not go beyond what is left. */
function towards(left: number, share: number): number {
  return left > 0 ? Math.min(left, share) : Math.max(left, share);
}

function shareOf(set: ScaledSet, { replicas, maxSurge, reportedReplicas }: ScalingState): number {
  if (replicas === 0) return -set.wanted;
  const before = set.maxReplicas === undefined || set.maxReplicas === 0 ? reportedReplicas : set.maxReplicas;
  if (before === 0) return 0;
  return Math.round((set.wanted * (replicas + maxSurge)) / before) - set.wanted;
}
