import { SetpointError } from "@setpoint/apimachinery";
import { errControllerInvalid } from "../errors.ts";

/** Refuses what is no duration: a zero or a NaN in a timer is a hot loop. */
export function checkMs(where: string, what: string, value: number): void {
  if (value > 0 && Number.isFinite(value)) return;
  const wanted = "expected milliseconds, more than 0 (seconds(30), minutes(5))";
  throw new SetpointError(errControllerInvalid, `Cannot use ${where}: ${what} is ${value}; ${wanted}`);
}

/** Refuses what is no number of things. */
export function checkCount(where: string, what: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new SetpointError(
    errControllerInvalid,
    `Cannot use ${where}: ${what} is ${value}; expected a whole number, 1 or more`,
  );
}
