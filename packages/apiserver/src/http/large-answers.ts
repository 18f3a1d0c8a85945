/** Bounds how many large answers are written at the same time, since each holds slices and buffers of its connection. */
import { ApiError, failure } from "@setpoint/apimachinery";

/** Lists beyond a slice that are written at the same time. */
export const largeListsMax = 32;
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

function tooManyLists(): ApiError {
  const message = "Too many requests, the server writes as many large lists as it can: please try again later";
  return new ApiError(failure(429, "TooManyRequests", message, { retryAfterSeconds }));
}
