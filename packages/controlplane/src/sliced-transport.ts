import type { ApiResponse, Transport, WatchFrame } from "@setpoint/apimachinery";
import { type Clock, nextTurn } from "@setpoint/host";

/** Longer than a slice of a controller's own work, so that a sound one never waits here. */
const sliceMsMax = 5;

/**
 * An in-process transport that gives the event loop its turns. Such a server answers without waiting for
 * anything, so a client that asks again and again, or reads the frames of a watch, would keep the loop from
 * everything else in the process for as long as it likes.
 */
export function slicedTransport(inner: Transport, clock: Clock): Transport {
  let startedMs = clock.monotonic();
  let turn: Promise<void> | undefined;
  // All users of the transport wait for the same turn: while one of them went on there would be none.
  const itsTurn = (): Promise<void> | undefined => {
    if (turn === undefined && clock.monotonic() - startedMs > sliceMsMax)
      turn = nextTurn(clock).then(() => {
        turn = undefined;
        startedMs = clock.monotonic();
      });
    return turn;
  };
  const sliced = (response: ApiResponse): ApiResponse =>
    response.kind === "watch" ? { ...response, frames: slicedFrames(response.frames, itsTurn) } : response;
  return {
    async send(request, signal) {
      await itsTurn();
      return sliced(await inner.send(request, signal));
    },
  };
}

function slicedFrames(
  frames: AsyncIterable<WatchFrame>,
  itsTurn: () => Promise<void> | undefined,
): AsyncIterable<WatchFrame> {
  return {
    [Symbol.asyncIterator]() {
      const source = frames[Symbol.asyncIterator]();
      return {
        next: () => itsTurn()?.then(() => source.next()) ?? source.next(),
        return: (value) => source.return?.(value) ?? Promise.resolve({ done: true, value: undefined }),
      };
    },
  };
}
