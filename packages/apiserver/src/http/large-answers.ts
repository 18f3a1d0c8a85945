/** Bounds how many large answers are written at the same time, since each holds slices and buffers of its connection. */
import { ApiError, failure, SetpointError } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { isNearlyFull } from "./heap-use.ts";

/** Lists beyond a slice that are written at the same time. */
export const largeListsMax = 32;
/** How long a client may take to read one; a real server ends requests that are no watches after as long. */
export const largeListMsMax = 60_000;
const retryAfterSeconds = 1;

let underway = 0;

/** Runs the writing of one large answer, or throws 429 when there are enough. */
export async function writeLarge(write: () => Promise<void>): Promise<void> {
  if (underway >= largeListsMax) throw tooManyLists();
  underway++;
  try {
    await write();
  } finally {
    underway--;
  }
}

/** Throws when a list that is being written has to end: it holds its objects, also those that have changed meanwhile. */
export function refuseOverdue(startMs: number, clock: Clock): void {
  if (clock.monotonic() - startMs > largeListMsMax) throw overdue();
  if (isNearlyFull()) throw tooManyLists();
}

function overdue(): SetpointError {
  const message = `The client has not read its list within ${largeListMsMax} ms: the answer was cut`;
  return new SetpointError("ERR_SLOW_CLIENT", message);
}

function tooManyLists(): ApiError {
  const message = "Too many requests, the server writes as many large lists as it can: please try again later";
  return new ApiError(failure(429, "TooManyRequests", message, { retryAfterSeconds }));
}
