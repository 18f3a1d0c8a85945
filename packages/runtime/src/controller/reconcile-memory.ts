/**
 * What a controller remembers of the answers to its own writes, by the UID of the reconciled object: only to leave out writes
 * that would change nothing. Losing it costs one write each and nothing else.
 */
export class ReconcileMemory {
  /** By UID of the reconciled object, then by what was written: what was asked for, and what came of it. */
  readonly #written = new Map<string, Map<string, { readonly wanted: string; readonly result: string }>>();

  /** Whether the last write of `what` asked for the same and ended in the state that is there now. */
  isKnownNoop(uid: string, what: string, wanted: string, present: string): boolean {
    const last = this.#written.get(uid)?.get(what);
    return last !== undefined && last.wanted === wanted && last.result === present;
  }

  /** The plurals of what has been written for this object. */
  kindsOf(uid: string): ReadonlySet<string> {
    return new Set([...(this.#written.get(uid)?.keys() ?? [])].map((what) => what.split("/")[0] ?? ""));
  }

  remember(uid: string, what: string, wanted: string, result: string): void {
    const entries = this.#written.get(uid) ?? new Map<string, { readonly wanted: string; readonly result: string }>();
    entries.set(what, { wanted, result });
    this.#written.set(uid, entries);
  }

  forget(uid: string): void {
    this.#written.delete(uid);
  }
}
