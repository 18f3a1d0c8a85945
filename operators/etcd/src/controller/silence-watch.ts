/**
 * How long members have been silent, by a clock that nobody sets: whether a member is given up must not depend on the wall clock, which
 * may jump. A new process counts from its own start, so that it gives a member up later, never sooner.
 */
export class SilenceWatch {
  /** By the UID of the cluster, then of the pod. */
  readonly #since = new Map<string, ReadonlyMap<string, number>>();

  /** Notes which pods are silent now; says for how long each has been. */
  note(cluster: string, silentPods: readonly string[], nowMs: number): ReadonlyMap<string, number> {
    const before = this.#since.get(cluster);
    const since = new Map(silentPods.map((pod) => [pod, before?.get(pod) ?? nowMs]));
    if (since.size === 0) this.#since.delete(cluster);
    else this.#since.set(cluster, since);
    return new Map([...since].map(([pod, sinceMs]) => [pod, nowMs - sinceMs]));
  }
}
