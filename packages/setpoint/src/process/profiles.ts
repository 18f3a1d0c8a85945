/** Profiles of the running process, in the formats that Chromium's developer tools open. */
import type { Session } from "node:inspector/promises";
import { sleep, type Clock } from "@setpoint/host";

/** `cpu`: where time is spent; `heap`: where memory is allocated. */
export type ProfileKind = "cpu" | "heap";

/** A profile slows the process down a little, so it is short and there is one at a time. */
const secondsMax = 60;
const secondsDefault = 5;
/** Bytes of allocation between two samples. */
const samplingInterval = 32_768;

/** Takes V8 profiles of this process, one at a time. */
export class Profiler {
  readonly #clock: Clock;
  #isRunning = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Where time went, or who allocated what is still alive, in so many seconds; as JSON. */
  async take(kind: ProfileKind, seconds: number = secondsDefault): Promise<string> {
    this.#isRunning = true;
    // Loaded at the first request for a profile.
    const session = new (process.getBuiltinModule("node:inspector/promises").Session)();
    session.connect();
    try {
      const durationMs = Math.min(Math.max(seconds, 0.1), secondsMax) * 1_000;
      return JSON.stringify(
        kind === "cpu" ? await this.#cpu(session, durationMs) : await this.#heap(session, durationMs),
      );
    } finally {
      session.disconnect();
      this.#isRunning = false;
    }
  }

  async #cpu(session: Session, durationMs: number): Promise<unknown> {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await sleep(this.#clock, durationMs);
    return (await session.post("Profiler.stop")).profile;
  }

  /**
   * By sampling: a snapshot would stop the process for seconds and hold every secret that it has in memory.
   */
  async #heap(session: Session, durationMs: number): Promise<unknown> {
    await session.post("HeapProfiler.startSampling", { samplingInterval });
    await sleep(this.#clock, durationMs);
    return (await session.post("HeapProfiler.stopSampling")).profile;
  }
}
