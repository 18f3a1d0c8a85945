/** How many replicas each ReplicaSet of a Deployment should have next; pure. */

export interface SetCount {
  readonly name: string;
  /** spec.replicas. */
  readonly wanted: number;
  readonly available: number;
}

export interface RollingState {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
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
  const availableSpare = current.available + old.reduce((sum, set) => sum + set.available, 0) - minAvailable;
  // What sets report lags behind what was asked of them, so what was asked is a bound too.
  const askedSpare = current.available + old.reduce((sum, set) => sum + set.wanted, 0) - minAvailable;
  let spare = Math.min(availableSpare, askedSpare);
  for (const set of old) {
    const available = Math.min(set.available, set.wanted);
    const fromAvailable = Math.max(0, Math.min(available, spare));
    spare -= fromAvailable;
    const next = available - fromAvailable;
    if (next !== set.wanted) sizes.set(set.name, Math.max(0, next));
  }
}

/** Recreate: nothing new before everything old is gone. */
export function planRecreate(replicas: number, current: SetCount, old: readonly SetCount[], oldPods: number): Sizes {
  const sizes = new Map<string, number>();
  for (const set of old) if (set.wanted > 0) sizes.set(set.name, 0);
  if (sizes.size === 0 && oldPods === 0 && current.wanted !== replicas) sizes.set(current.name, replicas);
  return sizes;
}
