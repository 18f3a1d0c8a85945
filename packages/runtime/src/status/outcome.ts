import { isApiError, isSetpointError } from "@setpoint/apimachinery";
import { isOutcomeUnknown } from "@setpoint/client";
import { errNotOwned } from "../errors.ts";
import { refusalOf, type RefusalReason } from "./refusal.ts";

/** How a write ended. `unknown`: no answer came, it may or may not have happened; doing it again is safe. */
export type WriteOutcome<T> =
  | { readonly kind: "done"; readonly object: T }
  | {
      readonly kind: "refused";
      readonly error: Error;
      /** The reason, when it is one that retries alone do not fix. */
      readonly reason?: RefusalReason;
    }
  | { readonly kind: "unknown"; readonly error: Error };

/**
 * The end of a write as a value: `const created = await outcome(ctx.create(pod))`. Other errors are thrown
 * on.
 */
export async function outcome<T>(write: Promise<T>): Promise<WriteOutcome<T>> {
  try {
    return { kind: "done", object: await write };
  } catch (error) {
    if (isOutcomeUnknown(error)) return { kind: "unknown", error };
    if (!isApiError(error) && !isSetpointError(error, errNotOwned)) throw error;
    const reason = refusalOf(error, () => true)?.reason;
    return { kind: "refused", error, ...(reason === undefined ? {} : { reason }) };
  }
}
