import { isForbidden, isInvalid } from "@setpoint/apimachinery";
import { isOtherUid } from "../writes/other-uid.ts";

/**
 * Throws on what does not end with the status alone: a conflict, another object of the name, a lost answer, a
 * lease that is over.
 */
export function unlessRefused(error: unknown): void {
  if (isOtherUid(error) || (!isInvalid(error) && !isForbidden(error))) throw error;
}
