import { isInvalid } from "@setpoint/apimachinery";

/**
 * Whether a patch met another object of this name: the server says that a UID cannot be changed, and means a
 * conflict.
 */
export function isOtherUid(error: unknown): boolean {
  return isInvalid(error) && (error.status.details?.causes ?? []).some(({ field }) => field === "metadata.uid");
}
