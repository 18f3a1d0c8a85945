/** What the reconciles of one controller in one cluster can ask about it: one object for all runs. */
import type { ControllerInfo } from "../controller/reconcile-context.ts";
import { awaitChange } from "../controller/result.ts";
import { Suspension } from "../writes/suspension.ts";

export interface ControllerInfoPorts extends Pick<ControllerInfo, "fieldManager" | "cluster" | "outdated"> {
  /** Called with what a dry run was about to change outside of the API; undefined outside of dry runs. */
  readonly dryRun: ((this: void, what: string) => void) | undefined;
}

export function createControllerInfo({ dryRun, ...info }: ControllerInfoPorts): ControllerInfo {
  return { ...info, changesOutside: dryRun === undefined ? () => {} : (what) => endRun(what, dryRun) };
}

function endRun(what: string, report: (what: string) => void): never {
  report(what);
  throw new Suspension(`${what} in a dry run`, awaitChange());
}
