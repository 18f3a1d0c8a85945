/**
 * Measures for how long the record of a mirror has been the same. The clocks of the pod and of the operator
 * may differ, so the date in the record is only compared with itself. A new process starts to measure again.
 */
import { BoundedMap } from "@setpoint/data-service";
import type { ReconcileContext } from "setpoint";

interface Seen {
  readonly at: string | undefined;
  readonly sinceMs: number;
}

/** Enough for all mirrors of an operator; what is forgotten is measured again. */
const mirrorsMax = 1_000;

export class RecordWatch {
  /** By the UID of the mirror. */
  readonly #seen = new BoundedMap<string, Seen>(mirrorsMax);

  /** `at`: the date of the record now. */
  unchangedMs(uid: string, at: string | undefined, { host: { clock } }: Pick<ReconcileContext, "host">): number {
    const nowMs = clock.monotonic();
    const before = this.#seen.get(uid);
    const sinceMs = before?.at === at ? (before?.sinceMs ?? nowMs) : nowMs;
    this.#seen.set(uid, { at, sinceMs });
    return nowMs - sinceMs;
  }
}
