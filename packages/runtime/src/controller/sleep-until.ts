import { SetpointError } from "@setpoint/apimachinery";
import { sleep, type Clock } from "@setpoint/host";
import { errDelayInvalid } from "../errors.ts";

/** A `sleep` that ends with a signal. Errors: `ERR_DELAY_INVALID` for NaN. */
export function sleepUntil(clock: Clock, signal: AbortSignal): (delayMs: number) => Promise<void> {
  return (delayMs) => {
    if (Number.isNaN(delayMs)) {
      const message = "Cannot sleep: the delay is NaN; expected milliseconds (seconds(3))";
      return Promise.reject(new SetpointError(errDelayInvalid, message));
    }
    const slept = sleep(clock, delayMs, signal);
    // One that loses a race, and that nobody awaits any more, must not end the process when the signal
    // aborts.
    slept.catch(() => {});
    return slept;
  };
}
