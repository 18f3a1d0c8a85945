/** Rules that say nothing of some runs, because after their faults another end is right. */
import { SetpointError } from "@setpoint/apimachinery";
import type { Fault } from "../faults/fault.ts";
import type { Oracle } from "./oracle.ts";

/**
 * The same rules. Those that are named do not judge the end of a run in which a fault struck that excuses it.
 * Errors: `ERR_ORACLE_UNKNOWN` for a name that no rule has.
 */
export function excuseFaults(
  oracles: readonly Oracle[],
  excuses: Readonly<Record<string, (this: void, fault: Fault) => boolean>>,
): readonly Oracle[] {
  const unknown = Object.keys(excuses).find((name) => !oracles.some((oracle) => oracle.name === name));
  if (unknown !== undefined)
    throw new SetpointError("ERR_ORACLE_UNKNOWN", `Cannot excuse faults of "${unknown}": no rule has this name`);
  return oracles.map((oracle) => {
    const isExcuse = excuses[oracle.name];
    return isExcuse === undefined ? oracle : excused(oracle, isExcuse);
  });
}

function excused(oracle: Oracle, isExcuse: (fault: Fault) => boolean): Oracle {
  return {
    name: oracle.name,
    judge(view) {
      const judge = oracle.judge(view);
      return {
        passed: (hop) => judge.passed?.(hop),
        changed: (change) => judge.changed?.(change),
        ended: (end) => (end.faults.some(isExcuse) ? undefined : judge.ended?.(end)),
      };
    },
  };
}
