import { type Clock, nextTurn } from "./clock.ts";

/**
 * Work that takes longer than this yields to the event loop: probes, lease renewals and watches must not wait
 * for a list. A slice and a full garbage collection in it, of 10 to 15 ms, take less than 20 ms together.
 */
const sliceMsMax = 2;
/** The most steps of a slice, however short they are: under a virtual clock they take no time. */
const sliceStepsMax = 1_000;
/**
 * Beginnings in one turn of the event loop after which it is marked, so that the next ones are found to be in
 * the same turn.
 */
const beginningsUnmarkedMax = 8;

/** Cuts long work into slices, with a turn of the event loop for other work between them. */
export class TimeSlices {
  readonly #clock: Clock;
  #startedMs: number;
  #steps = 0;
  #beginnings = 0;
  #isMarked = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
  }

  /**
   * Call it before work that nothing of the slice led to: what came meanwhile was waiting, not work. Work
   * that begins again and again without a turn between, as a key does that asks for itself at once, is one
   * slice all the same.
   */
  begin(): void {
    if (this.#isMarked) return;
    this.#restart();
    if (++this.#beginnings < beginningsUnmarkedMax) return;
    this.#isMarked = true;
    this.#clock.defer(() => {
      this.#isMarked = false;
      this.#beginnings = 0;
    });
  }

  /** To be asked before each step: whether to wait for `pause` first. */
  isOver(): boolean {
    return ++this.#steps > sliceStepsMax || this.#clock.monotonic() - this.#startedMs > sliceMsMax;
  }

  /** Resolves when everything else that is ready has had its turn. */
  async pause(): Promise<void> {
    await nextTurn(this.#clock);
    this.#restart();
  }

  #restart(): void {
    this.#startedMs = this.#clock.monotonic();
    this.#steps = 0;
  }
}
