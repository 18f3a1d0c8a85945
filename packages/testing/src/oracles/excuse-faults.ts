/** Rules that say nothing of some runs, because with their faults something else is right. */
import { SetpointError } from "@setpoint/apimachinery";
import type { Fault } from "../faults/fault.ts";
import type { Oracle } from "./oracle.ts";

/**
 * The same rules. Those that are named do not judge a run that has a fault which excuses it.
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
    judge: (view) => (view.faults.some(isExcuse) ? {} : oracle.judge(view)),
  };
}
