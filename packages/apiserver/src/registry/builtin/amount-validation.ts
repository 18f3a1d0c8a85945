/** Amounts that are a number of pods, or a share of them in percent. */
import type { FieldError } from "@setpoint/apimachinery";
import { invalidValue } from "../field-errors.ts";
import { negativeErrors } from "./workload-validation.ts";

const percentProblem =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** Whether an amount is readable, and not negative. */
export function amountFormErrors(amount: unknown, at: string): readonly FieldError[] {
  if (typeof amount !== "string") return negativeErrors(amount, at);
  return /^[0-9]+%$/.test(amount) ? [] : [invalidValue(at, amount, percentProblem)];
}

/** Whether a share is of more than there is. */
export function shareErrors(amount: unknown, at: string): readonly FieldError[] {
  const isTooMuch = typeof amount === "string" && numberOf(amount) > 100;
  return isTooMuch ? [invalidValue(at, amount, "must not be greater than 100%")] : [];
}

/** The number, of pods or of percent; 0 for what is not readable. */
export function numberOf(amount: unknown): number {
  if (typeof amount === "number") return amount;
  return typeof amount === "string" && /^[0-9]+%$/.test(amount) ? Number.parseInt(amount, 10) : 0;
}
