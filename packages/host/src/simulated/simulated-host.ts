import type { Host } from "../host.ts";
import type { LogFields, LogLevel } from "../logger.ts";
import { loggerWith } from "../logger-with.ts";
import { createMetrics } from "../metrics-registry.ts";
import { seededRandom } from "./seeded-random.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** One captured line of the log, with the virtual time of its writing. */
export interface LogLine {
  readonly atMs: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** A host in which nothing is real, and everything that a program told it. */
export interface SimulatedHost extends Host {
  readonly clock: VirtualClock;
  readonly lines: readonly LogLine[];
}

/** Everything about the host follows from the seed; its time begins at `startMs`. */
export function simulatedHost(seed: number, startMs = 0): SimulatedHost {
  const random = seededRandom(seed);
  // Its own sequence: how often a program asks for randomness must not decide the order of timers.
  const clock = new VirtualClock(seededRandom(seed + 0x9e3779b9), startMs);
  const lines: LogLine[] = [];
  const log = loggerWith(
    {},
    (level, message, fields) => void lines.push({ atMs: clock.monotonic(), level, message, fields }),
  );
  return { clock, random, log, metrics: createMetrics(), lines };
}
