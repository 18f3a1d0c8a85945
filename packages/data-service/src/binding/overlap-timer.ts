import { parseDuration, type ReconcileContext } from "setpoint";
import type { Login } from "../kinds/service-binding.ts";

/** The status keeps whole seconds, so a moment may be later than it says. */
const roundingMs = 1_000;

/**
 * How long retiring logins still have to work. The wall clock is asked once a login and process; from then on
 * the monotonic clock counts, so that a clock that is set forward does not end an overlap.
 */
export class OverlapTimer {
  readonly #ends: Map<string, { readonly overlap: string; readonly atMs: number }> = new Map();

  remainingMs({ user, since }: Login, overlap: string, { host: { clock } }: Pick<ReconcileContext, "host">): number {
    const known = this.#ends.get(user);
    if (known?.overlap === overlap) return Math.max(0, known.atMs - clock.monotonic());
    const leftMs = Date.parse(since) + roundingMs + parseDuration(overlap) - clock.now();
    this.#ends.set(user, { overlap, atMs: clock.monotonic() + leftMs });
    return Math.max(0, leftMs);
  }

  forget(user: string): void {
    this.#ends.delete(user);
  }
}
