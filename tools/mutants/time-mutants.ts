/** A mutant that trusts the clock on the wall (M22). */
import type { OperatorSource } from "@setpoint/testing";
import type { Variant } from "./mutant.ts";
import { operatorOf } from "./operator-of.ts";

const periodMs = 600_000;

/** M22: the time since the last backup is the difference of two readings of a clock that people set. */
export function wallClockSchedule(variant: Variant): OperatorSource {
  return operatorOf(() => [
    {
      async reconcile(store, { host: { clock }, status, requeueAfter }) {
        const { backups = 0, lastBackupMs = 0 } = store.status ?? {};
        const elapsedMs = clock.now() - lastBackupMs;
        // A clock that went back says nothing about the time that has passed: a backup too many is better
        // than none.
        const isDue = elapsedMs >= periodMs || (variant === "twin" && elapsedMs < 0);
        if (isDue) await status({ backups: backups + 1, lastBackupMs: clock.now() });
        return requeueAfter(isDue ? periodMs : periodMs - elapsedMs, "the next backup");
      },
    },
  ]);
}
