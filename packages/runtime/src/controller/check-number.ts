import { SetpointError } from "@setpoint/apimachinery";
import { errControllerInvalid } from "../errors.ts";

/** What a timer can count to: 24.8 days. */
const timerMsMax = 2 ** 31 - 1;

/** Refuses what is no duration: a zero or a NaN in a timer is a hot loop. */
export function checkMs(where: string, what: string, value: number): void {
  if (value > 0 && value <= timerMsMax) return;
  const wanted = "wanted are milliseconds, more than 0 and at most 24 days (seconds(30), minutes(5))";
  throw new SetpointError(errControllerInvalid, `Cannot use ${where}: ${what} is ${value}; ${wanted}`);
}

/** Refuses what is no number of things. */
export function checkCount(where: string, what: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new SetpointError(
    errControllerInvalid,
    `Cannot use ${where}: ${what} is ${value}; wanted is a whole number, 1 or more`,
  );
}
