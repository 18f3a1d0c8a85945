/** Watches that break, fall silent or deliver every frame late. */
import type { WatchFrame } from "@setpoint/apimachinery";
import { type Clock, sleep } from "@setpoint/host";
import { brokenConnection } from "./fault-answers.ts";

type Frames = AsyncIterable<WatchFrame>;

/** Resolves after this time, or when the signal aborts. */
async function pause(clock: Clock, delayMs: number, over: AbortSignal): Promise<void> {
  if (delayMs > 0) await sleep(clock, delayMs, over).catch(() => {});
}

/** Breaks this time after its start. */
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

/** Sends nothing between two times, counted from its start. */
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
  readonly frame?: WatchFrame;
  /** The stream has ended, or broken with this. */
  readonly end?: { readonly error?: unknown };
  readonly dueMs: number;
}

/** Delays each frame and the end by this time; waiting frames do not block the server. */
export async function* lateFrames(
  frames: Frames,
  clock: Clock,
  { lagMs, over }: { readonly lagMs: number; readonly over: AbortSignal },
): AsyncGenerator<WatchFrame> {
  const arrivals: Arrival[] = [];
  let arrived = Promise.withResolvers<void>();
  const arrive = (arrival: Omit<Arrival, "dueMs">): void => {
    arrivals.push({ ...arrival, dueMs: clock.monotonic() + lagMs });
    arrived.resolve();
  };
  const iterator = frames[Symbol.asyncIterator]();
  void readAll(iterator, arrive);
  try {
    for (;;) {
      const arrival = arrivals.shift();
      if (arrival === undefined) {
        await arrived.promise;
        arrived = Promise.withResolvers();
        continue;
      }
      await pause(clock, arrival.dueMs - clock.monotonic(), over);
      if (arrival.frame !== undefined) yield arrival.frame;
      else if (arrival.end?.error === undefined) return;
      else throw arrival.end.error;
    }
  } finally {
    await iterator.return?.();
  }
}

async function readAll(
  iterator: AsyncIterator<WatchFrame>,
  arrive: (arrival: Omit<Arrival, "dueMs">) => void,
): Promise<void> {
  try {
    for (;;) {
      const next = await iterator.next();
      if (next.done === true) return arrive({ end: {} });
      arrive({ frame: next.value });
    }
  } catch (error) {
    arrive({ end: { error } });
  }
}
