import { SetpointError } from "@setpoint/apimachinery";
import { delayMsMax, errDelayInvalid } from "../errors.ts";

/** When the key is to run again. Any watched change wakes it too. */
export type Result =
  | { readonly kind: "awaitChange" }
  | { readonly kind: "requeueAfter"; readonly delayMs: number; readonly why: string };

/** The result of a run that has nothing to do until a watched object changes. */
export function awaitChange(): Result {
  return { kind: "awaitChange" };
}

/** Errors: `ERR_DELAY_INVALID` for NaN, as it comes of a date that cannot be read. */
export function requeueAfter(delayMs: number, why: string): Result {
  if (Number.isNaN(delayMs))
    throw new SetpointError(
      errDelayInvalid,
      `Cannot run again later ("${why}"): the delay is NaN; expected milliseconds (seconds(30), minutes(5))`,
    );
  return { kind: "requeueAfter", delayMs: Math.min(delayMs, delayMsMax), why };
}

/** Milliseconds, said in seconds. */
export function seconds(count: number): number {
  return count * 1_000;
}

/** Milliseconds, said in minutes. */
export function minutes(count: number): number {
  return count * 60_000;
}
