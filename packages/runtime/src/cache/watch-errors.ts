/** What the answers of a server that refuses a list or a watch mean for the next one. */
import { type ApiError, isApiError } from "@setpoint/apimachinery";

/** Answers that say "not now" or "not you", after which the same request may succeed. */
const passingCodes: ReadonlySet<number> = new Set([401, 403, 404, 410, 429]);

/** Whether the same request may succeed later. */
export function isPassing(error: ApiError): boolean {
  return passingCodes.has(error.code) || error.code === 503;
}

/** Whether the server understood the request and does not want it, so that asking otherwise may help. */
export function isRefusal(error: unknown): boolean {
  return isApiError(error) && error.code >= 400 && error.code < 500 && !passingCodes.has(error.code);
}

/** The server has not come to the revision that it was asked for, or never will. */
export function isTooLargeRevision(error: unknown): boolean {
  return (
    isApiError(error) && (error.status.details?.causes ?? []).some(({ reason }) => reason === "ResourceVersionTooLarge")
  );
}
