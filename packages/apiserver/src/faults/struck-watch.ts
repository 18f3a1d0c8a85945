/** Watches that break, fall silent or tell everything late. */
import type { WatchFrame } from "@setpoint/apimachinery";
import { type Clock, sleep } from "@setpoint/host";
import { brokenConnection } from "./fault-answers.ts";

type Frames = AsyncIterable<WatchFrame>;

/** Resolves after so long, or when the signal aborts. */
async function pause(clock: Clock, delayMs: number, over: AbortSignal): Promise<void> {
  if (delayMs > 0) await sleep(clock, delayMs, over).catch(() => {});
}

/** Breaks so long after its start. */
export async function* cutFrames(frames: Frames, clock: Clock, afterMs: number): AsyncGenerator<WatchFrame> {
  const cut = Promise.withResolvers<"cut">();
  const timer = clock.setTimer(() => cut.resolve("cut"), afterMs, { unref: true });
  const iterator = frames[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), cut.promise]);
      if (next === "cut") throw brokenConnection();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    timer.cancel();
    await iterator.return?.();
  }
}

/** Says nothing between two moments, counted from its start. */
export async function* silentFrames(
  frames: Frames,
  clock: Clock,
  { afterMs, forMs, over }: { readonly afterMs: number; readonly forMs: number; readonly over: AbortSignal },
): AsyncGenerator<WatchFrame> {
  const fromMs = clock.monotonic() + afterMs;
  for await (const frame of frames) {
    const nowMs = clock.monotonic();
    if (nowMs >= fromMs) await pause(clock, fromMs + forMs - nowMs, over);
    yield frame;
  }
}

interface Arrival {
  readonly next: IteratorResult<WatchFrame>;
  readonly dueMs: number;
}

/** Tells each frame so much later; frames that wait do not hold up the server. */
export async function* lateFrames(
  frames: Frames,
  clock: Clock,
  { lagMs, over }: { readonly lagMs: number; readonly over: AbortSignal },
): AsyncGenerator<WatchFrame> {
  const arrivals: Arrival[] = [];
  let arrived = Promise.withResolvers<void>();
  const iterator = frames[Symbol.asyncIterator]();
  const read = async (): Promise<void> => {
    for (;;) {
      const next = await iterator.next();
      arrivals.push({ next, dueMs: clock.monotonic() + lagMs });
      arrived.resolve();
      if (next.done === true) return;
    }
  };
  const reading = read();
  reading.catch((error: unknown) => {
    // Nobody may be waiting for it yet.
    arrived.promise.catch(() => {});
    arrived.reject(error);
  });
  try {
    for (;;) {
      const arrival = arrivals.shift();
      if (arrival === undefined) {
        await arrived.promise;
        arrived = Promise.withResolvers();
        continue;
      }
      await pause(clock, arrival.dueMs - clock.monotonic(), over);
      if (arrival.next.done === true) return;
      yield arrival.next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
