/** How a run ends early without having failed: something inside it waits, and says for how long. */
import { isSetpointError, SetpointError } from "@setpoint/apimachinery";
import { errSuspended } from "../errors.ts";
import type { Result } from "../controller/result.ts";

/** Thrown through the author's code, which must let it pass; it becomes the result of the run. */
export class Suspension extends SetpointError {
  override readonly name: string = "Suspension";
  readonly result: Result;

  constructor(what: string, result: Result) {
    super(errSuspended, `Cannot continue ${what}: it waits for a change; do not catch this error, it ends the run`);
    this.result = result;
  }
}

export function isSuspension(error: unknown): error is Suspension {
  return isSetpointError(error, errSuspended);
}
