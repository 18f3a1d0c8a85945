import { isOutcomeUnknown } from "@setpoint/client";
import { isApiError } from "@setpoint/apimachinery";

/** How a write ended. `unknown`: no answer came, it may or may not have happened; doing it again is safe. */
export type WriteOutcome<T> =
  | { readonly kind: "done"; readonly object: T }
  | { readonly kind: "refused"; readonly error: Error }
  | { readonly kind: "unknown"; readonly error: Error };

/** The end of a write as a value: `const created = await outcome(ctx.create(pod))`. Other errors are thrown on. */
export async function outcome<T>(write: Promise<T>): Promise<WriteOutcome<T>> {
  try {
    return { kind: "done", object: await write };
  } catch (error) {
    if (isOutcomeUnknown(error)) return { kind: "unknown", error };
    if (isApiError(error)) return { kind: "refused", error };
    throw error;
  }
}
