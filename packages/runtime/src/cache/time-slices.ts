import { type Clock, nextTurn } from "@setpoint/host";

/**
 * Work that lasts longer than this gives the event loop back: probes, lease renewals and watches must not wait for a list. Little enough
 * that a slice and a full collection of garbage in it, of ten to fifteen milliseconds, are less than twenty together.
 */
const sliceMsMax = 2;

/** Cuts long work into slices. */
export class TimeSlices {
  readonly #clock: Clock;
  #startedMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
  }

  /** Call it before work that nothing of the slice led to: what came meanwhile was waiting, not work. */
  begin(): void {
    this.#startedMs = this.#clock.monotonic();
  }

  /** Whether to wait for `pause` before the next step. */
  isOver(): boolean {
    return this.#clock.monotonic() - this.#startedMs > sliceMsMax;
  }

  /** Resolves when everything else that is ready has had its turn. */
  async pause(): Promise<void> {
    await nextTurn(this.#clock);
    this.begin();
  }
}
