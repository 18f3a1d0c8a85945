import { type Clock, TimeSlices } from "@setpoint/host";
import type { ArchiveLimits } from "./limits.ts";
import { refusal } from "./refusal.ts";

/** Lets a long load be interrupted, and ends one that takes too long. */
export class LoadPace {
  readonly signal: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #loadMsMax: number;
  readonly #deadlineMs: number;
  readonly #slices: TimeSlices;

  constructor(clock: Clock, { loadMsMax }: ArchiveLimits, signal?: AbortSignal) {
    this.signal = signal;
    this.#clock = clock;
    this.#loadMsMax = loadMsMax;
    this.#deadlineMs = clock.monotonic() + loadMsMax;
    this.#slices = new TimeSlices(clock);
  }

  /**
   * To be awaited before each step. Streams whose bytes are there go on without a turn of the event loop, so
   * no signal would arrive.
   */
  async step(): Promise<void> {
    if (!this.#slices.isOver()) return;
    await this.#slices.pause();
    this.signal?.throwIfAborted();
    if (this.#clock.monotonic() > this.#deadlineMs)
      throw refusal(`expected to be unpacked within ${this.#loadMsMax / 1_000} s`);
  }
}
