/** How many replicas each ReplicaSet of a Deployment should have next; pure. */

export interface SetCount {
  readonly name: string;
  /** spec.replicas. */
  readonly wanted: number;
  readonly available: number;
}

export interface RollingState extends Bounds {
  readonly replicas: number;
  readonly current: SetCount;
  /** Oldest first. */
  readonly old: readonly SetCount[];
}

/** New sizes by name; sets that keep theirs are left out. */
export type Sizes = ReadonlyMap<string, number>;

/** `25%` or a number, of `total`; surge rounds up, unavailability down. */
export function resolvePercent(value: number | string | undefined, total: number, round: "up" | "down"): number {
  if (typeof value === "number") return value;
  const percent = Number((value ?? "25%").replace("%", ""));
  const exact = (percent * total) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}

/** As many pods more, and as many fewer, as a rollout allows. */
export interface Bounds {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Without a strategy of its own a Deployment rolls by 25%; both zero could never move. */
export function boundsOf(rolling: RollingUpdate | undefined, replicas: number): Bounds {
  const maxSurge = resolvePercent(rolling?.maxSurge, replicas, "up");
  const maxUnavailable = resolvePercent(rolling?.maxUnavailable, replicas, "down");
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

export interface RollingUpdate {
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
}

export function planRollingUpdate(state: RollingState): Sizes {
  const sizes = new Map<string, number>();
  const { current, old, replicas } = state;
  const total = current.wanted + old.reduce((sum, set) => sum + set.wanted, 0);
  // Grow the new set into what the surge leaves; a set that is too large shrinks at once.
  const room = Math.max(0, replicas + state.maxSurge - total);
  const grown = current.wanted > replicas ? replicas : Math.min(replicas, current.wanted + room);
  if (grown !== current.wanted) sizes.set(current.name, grown);
  planShrinking(state, sizes);
  return sizes;
}

/** Old sets first lose what is not available anyway, then as much as keeps enough available. */
function planShrinking({ replicas, maxUnavailable, current, old }: RollingState, sizes: Map<string, number>): void {
  const minAvailable = replicas - maxUnavailable;
  // What sets report lags behind what was asked of them, so what was asked is a bound too.
  let broken = current.available + old.reduce((sum, set) => sum + set.wanted, 0) - minAvailable;
  if (broken <= 0) return;
  let spare = current.available + old.reduce((sum, set) => sum + set.available, 0) - minAvailable;
  for (const set of old) {
    const unavailable = Math.min(broken, Math.max(0, set.wanted - set.available));
    broken -= unavailable;
    const left = set.wanted - unavailable;
    const fromAvailable = Math.max(0, Math.min(left, spare));
    spare -= fromAvailable;
    if (left - fromAvailable !== set.wanted) sizes.set(set.name, left - fromAvailable);
  }
}

/** Recreate: nothing new before everything old is gone. */
export function planRecreate(replicas: number, current: SetCount, old: readonly SetCount[], oldPods: number): Sizes {
  const sizes = new Map<string, number>();
  for (const set of old) if (set.wanted > 0) sizes.set(set.name, 0);
  if (sizes.size === 0 && oldPods === 0 && current.wanted !== replicas) sizes.set(current.name, replicas);
  return sizes;
}
