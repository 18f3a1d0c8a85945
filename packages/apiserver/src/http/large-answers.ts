/**
 * Limits how many large responses are written at the same time, since each holds buffers of its connection.
 */
import { ApiError, failure, SetpointError } from "@setpoint/apimachinery";
import { type Clock, nextTurn } from "@setpoint/host";
import { isNearlyFull } from "./heap-use.ts";

/** Lists beyond a slice that are written at the same time. */
export const largeListsMax = 32;
/** How long the server waits in all for the client that reads one. */
export const largeListMsMax = 120_000;
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

/** Slices that are written in one turn of the event loop, of all lists together. */
const slicesOfTurn = 4;

/** The turns of one clock. */
interface Turns {
  granted: number;
  next: Promise<void>;
}

const turnsOf = new WeakMap<Clock, Turns>();

/**
 * Resolves when the next slice of a large list may be encoded and written: few a turn of the event loop,
 * whatever the number of lists, in the order of asking. Other requests go on in between.
 */
export function sliceTurn(clock: Clock): Promise<void> {
  let turns = turnsOf.get(clock);
  if (turns === undefined) turnsOf.set(clock, (turns = { granted: 0, next: nextTurn(clock) }));
  if (turns.granted++ % slicesOfTurn === 0) turns.next = turns.next.then(() => nextTurn(clock));
  return turns.next;
}

/** Throws when a list has to end: it holds its objects, also those that have changed since it began. */
export function refuseOverdue(waitedMs: number): void {
  if (waitedMs > largeListMsMax) throw overdue();
  if (isNearlyFull()) throw tooManyLists();
}

function overdue(): SetpointError {
  const message = `The client let its list wait for ${largeListMsMax} ms: the answer was cut`;
  return new SetpointError("ERR_SLOW_CLIENT", message);
}

function tooManyLists(): ApiError {
  const message = "Too many requests, the server writes as many large lists as it can: please try again later";
  return new ApiError(failure(429, "TooManyRequests", message, { retryAfterSeconds }));
}
