import type { WatchFrame } from "@setpoint/apimachinery";
import { type Clock, type Random, sleep } from "@setpoint/host";

export interface LagOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly lagMsMax: number;
}

interface Arrival {
  readonly frame?: WatchFrame;
  /** The stream has ended, or broken with this. */
  readonly end?: { readonly error?: unknown };
  readonly dueMs: number;
}

/** Tells each frame of a watch up to so much late, in order, as a busy server does. */
export async function* laggingWatch(
  frames: AsyncIterable<WatchFrame>,
  options: LagOptions,
): AsyncGenerator<WatchFrame> {
  const { clock, random, lagMsMax } = options;
  const arrivals: Arrival[] = [];
  let arrived = Promise.withResolvers<void>();
  let lastDueMs = 0;
  const arrive = (arrival: Omit<Arrival, "dueMs">): void => {
    lastDueMs = Math.max(lastDueMs, clock.monotonic() + random.int(lagMsMax));
    arrivals.push({ ...arrival, dueMs: lastDueMs });
    arrived.resolve();
  };
  void readAll(frames, arrive);
  for (;;) {
    const next = arrivals.shift();
    if (next === undefined) {
      await arrived.promise;
      arrived = Promise.withResolvers();
      continue;
    }
    await sleep(clock, next.dueMs - clock.monotonic());
    if (next.frame !== undefined) yield next.frame;
    else if (next.end?.error === undefined) return;
    else throw next.end.error;
  }
}

async function readAll(
  frames: AsyncIterable<WatchFrame>,
  arrive: (arrival: Omit<Arrival, "dueMs">) => void,
): Promise<void> {
  try {
    for await (const frame of frames) arrive({ frame });
    arrive({ end: {} });
  } catch (error) {
    arrive({ end: { error } });
  }
}
