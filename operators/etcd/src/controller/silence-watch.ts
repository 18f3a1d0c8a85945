/**
 * How long members have been silent, or failed, by a clock that nobody sets: whether a member is given up must not depend on the wall clock, which
 * may jump. A new process counts from its own start, so that it gives a member up later, never sooner.
 */
export class SilenceWatch {
  /** By the UID of the cluster, then by what is the matter. */
  readonly #since = new Map<string, ReadonlyMap<string, number>>();

  /** Notes what is the matter now; says for how long each has been. */
  note(cluster: string, matters: readonly string[], nowMs: number): ReadonlyMap<string, number> {
    const before = this.#since.get(cluster);
    const since = new Map(matters.map((matter) => [matter, before?.get(matter) ?? nowMs]));
    if (since.size === 0) this.#since.delete(cluster);
    else this.#since.set(cluster, since);
    return new Map([...since].map(([matter, sinceMs]) => [matter, nowMs - sinceMs]));
  }
}
