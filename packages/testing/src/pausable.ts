/** What a paused process hears, it hears when it goes on: answers and events wait in its sockets. */
import type { ApiResponse, Transport, WatchFrame } from "@setpoint/apimachinery";
import type { ProcessClock } from "./process-clock.ts";

export function pausableTransport(inner: Transport, clock: ProcessClock): Transport {
  return {
    async send(request, signal): Promise<ApiResponse> {
      // Not by `pausable`: every request of an operator comes here, so it is worth a promise less.
      try {
        const response = await inner.send(request, signal);
        return response.kind === "watch" ? { ...response, frames: pausableFrames(response.frames, clock) } : response;
      } finally {
        while (clock.isPaused) await clock.resumed;
      }
    },
  };
}

/** Settles as the promise does, but not while the process is paused. */
export async function pausable<T>(clock: ProcessClock, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } finally {
    while (clock.isPaused) await clock.resumed;
  }
}

/** Not a generator, which makes three times as many promises for each event. */
function pausableFrames(frames: AsyncIterable<WatchFrame>, clock: ProcessClock): AsyncIterable<WatchFrame> {
  return {
    [Symbol.asyncIterator]() {
      const inner = frames[Symbol.asyncIterator]();
      return {
        async next() {
          const result = await inner.next();
          while (clock.isPaused && result.done !== true) await clock.resumed;
          return result;
        },
        return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
