/** What a paused process hears, it hears when it goes on: events wait in its sockets. */
import type { WatchFrame } from "@setpoint/apimachinery";

/** Says whether a process stands still. */
export interface Pausable {
  readonly isPaused: boolean;
  /** Undefined while the process runs, else resolves when it is resumed. */
  readonly resumed: Promise<void> | undefined;
}

type Frame = IteratorResult<WatchFrame>;

/** Not a generator, which makes three times as many promises for each event. */
export function pausableFrames(frames: AsyncIterable<WatchFrame>, clock: Pausable): AsyncIterable<WatchFrame> {
  const later = async (frame: Frame): Promise<Frame> => {
    while (clock.isPaused) await clock.resumed;
    return frame;
  };
  const held = (frame: Frame): Frame | Promise<Frame> => (clock.isPaused && frame.done !== true ? later(frame) : frame);
  return {
    [Symbol.asyncIterator]() {
      const inner = frames[Symbol.asyncIterator]();
      return {
        next: () => inner.next().then(held),
        return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
