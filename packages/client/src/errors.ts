/**
 * The errors of this package that are not answers of a server; see the README for what a caller does about
 * each.
 */
import { isApiError, isSetpointError, SetpointError } from "@setpoint/apimachinery";

/** A write got no answer, or one that does not tell: it may or may not have happened. */
export const errOutcomeUnknown = "ERR_OUTCOME_UNKNOWN";
/** A read got no answer. */
export const errNoAnswer = "ERR_NO_ANSWER";
/** The server answered in a form that the request did not ask for. */
export const errUnexpectedAnswer = "ERR_UNEXPECTED_ANSWER";
/** Discovery knows no resource of this name. */
export const errUnknownResource = "ERR_UNKNOWN_RESOURCE";

export function outcomeUnknown(what: string, cause: unknown): SetpointError {
  const answer = isApiError(cause) ? `answered ${cause.code} (${cause.message})` : "gave no answer";
  const message = `Cannot tell whether ${what} happened: the server ${answer}, so it may or may not have been done`;
  return new SetpointError(errOutcomeUnknown, message, { cause });
}

/** Whether a write ended without an answer, so that the server may have performed it or not. */
export function isOutcomeUnknown(error: unknown): error is SetpointError {
  return isSetpointError(error, errOutcomeUnknown);
}
