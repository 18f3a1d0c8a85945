/** What the reconciles of one controller in one cluster can ask about it: one object for all runs. */
import type { DryRunReport } from "../controller/dry-run-report.ts";
import type { ControllerInfo } from "../controller/reconcile-context.ts";
import { awaitChange } from "../controller/result.ts";
import { Suspension } from "../writes/suspension.ts";

export interface ControllerInfoPorts extends Pick<ControllerInfo, "fieldManager" | "cluster" | "outdated"> {
  /** Undefined outside of dry runs. */
  readonly dryRun: DryRunReport | undefined;
}

export function createControllerInfo({ dryRun, ...info }: ControllerInfoPorts): ControllerInfo {
  if (dryRun === undefined) return { ...info, changesOutside: () => {}, cannotReach: () => false };
  return {
    ...info,
    changesOutside(what) {
      dryRun.changesOutside(what);
      throw endOfRun(what);
    },
    cannotReach(what, instead) {
      dryRun.cannotReach(what, instead);
      if (instead === undefined) throw endOfRun(`without ${what}`);
      return true;
    },
  };
}

function endOfRun(what: string): Suspension {
  return new Suspension(`${what} in a dry run`, awaitChange());
}
