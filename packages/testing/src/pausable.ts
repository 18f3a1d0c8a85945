/** What a paused process hears, it hears when it goes on: events wait in its sockets. */
import type { WatchFrame } from "@setpoint/apimachinery";

/** Says whether a process stands still. */
export interface Pausable {
  readonly isPaused: boolean;
  /** Undefined while the process runs, else resolves when it is resumed. */
  readonly resumed: Promise<void> | undefined;
}

/** Not a generator, which makes three times as many promises for each event. */
export function pausableFrames(frames: AsyncIterable<WatchFrame>, clock: Pausable): AsyncIterable<WatchFrame> {
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
