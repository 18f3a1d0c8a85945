import type { Clock } from "@setpoint/host";

/**
 * For how long this process has seen an object in its phase, by a clock that cannot be set. The recorded time
 * of a phase is that of the wall clock; where that has jumped, a deadline must not end a step that has just
 * begun.
 */
export class PhaseWatch {
  readonly #seen = new Map<string, { readonly phase: string; readonly sinceMs: number }>();

  /** Notes the phase, and returns since when it is the same, in milliseconds ago. */
  note(uid: string, phase: string, clock: Pick<Clock, "monotonic">): number {
    const nowMs = clock.monotonic();
    const before = this.#seen.get(uid);
    if (before?.phase === phase) return nowMs - before.sinceMs;
    this.#seen.set(uid, { phase, sinceMs: nowMs });
    return 0;
  }

  forget(uid: string): void {
    this.#seen.delete(uid);
  }
}
