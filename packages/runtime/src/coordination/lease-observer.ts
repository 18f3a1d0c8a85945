import type { Clock } from "@setpoint/host";
import type { SeenMember } from "./shard-record.ts";

/**
 * Notices Leases that nobody renews, by this process's own clock alone: what others write as times is never
 * compared.
 */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #durationMs: number;
  readonly #observations = new Map<string, { readonly resourceVersion: string; readonly atMs: number }>();

  constructor(clock: Clock, durationMs: number) {
    this.#clock = clock;
    this.#durationMs = durationMs;
  }

  /** The members whose Leases have not changed for their duration since this process first saw them so. */
  over(members: readonly SeenMember[]): readonly SeenMember[] {
    const living = new Set(members.map(({ uid }) => uid));
    for (const uid of this.#observations.keys()) if (!living.has(uid)) this.#observations.delete(uid);
    return members.filter((member) => this.#isOver(member));
  }

  #isOver({ uid, lease }: SeenMember): boolean {
    const nowMs = this.#clock.monotonic();
    const { resourceVersion } = lease.metadata;
    const known = this.#observations.get(uid);
    if (known === undefined || known.resourceVersion !== resourceVersion) {
      this.#observations.set(uid, { resourceVersion, atMs: nowMs });
      return false;
    }
    const durationMs = (lease.spec.leaseDurationSeconds ?? 0) * 1_000;
    return nowMs >= known.atMs + Math.max(durationMs, this.#durationMs);
  }
}
