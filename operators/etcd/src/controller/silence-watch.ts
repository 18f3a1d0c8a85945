/**
 * How long members have been silent, or failed, by a clock that nobody sets: whether a member is given up
 * must not depend on the wall clock, which may jump. A new process counts from its own start, so that it
 * gives a member up later, never sooner.
 */
export class SilenceWatch {
  /** By the UID of the cluster, then by what is the matter. */
  readonly #since = new Map<string, ReadonlyMap<string, number>>();

  /** Notes what is the matter now; says since when each has been. */
  note(cluster: string, matters: readonly string[], nowMs: number): ReadonlyMap<string, number> {
    const before = this.#since.get(cluster);
    const since = new Map<string, number>();
    for (const matter of matters) since.set(matter, before?.get(matter) ?? nowMs);
    if (since.size > 0) this.#since.set(cluster, since);
    else if (before !== undefined) this.#since.delete(cluster);
    return since;
  }
}
