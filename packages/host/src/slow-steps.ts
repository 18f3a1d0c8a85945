import type { Clock, Timer } from "./clock.ts";

/** A person takes a longer silence for a hang. */
const quietMs = 3_000;
const againMs = 10_000;

/** The clock, and where the sentences go. */
export interface SlowStepsOptions {
  readonly clock: Clock;
  /** Told the step under way, and for how many seconds everything has taken. */
  readonly say: (step: string, seconds: number) => void;
}

/**
 * Says what a program is doing when it takes longer than three seconds: the step under way, each later step
 * when it begins, and a step again while it takes long. A program that is quick says nothing.
 */
export class SlowSteps implements Disposable {
  readonly #clock: Clock;
  readonly #say: SlowStepsOptions["say"];
  readonly #startedMs: number;
  #step = "";
  #timer: Timer | undefined;

  constructor({ clock, say }: SlowStepsOptions) {
    this.#clock = clock;
    this.#say = say;
    this.#startedMs = clock.monotonic();
  }

  /** Begins a step; what went before is over. `step` reads as in "opening the store". */
  begin(step: string): void {
    this.#step = step;
    this.#timer?.cancel();
    const leftMs = this.#startedMs + quietMs - this.#clock.monotonic();
    // A step may keep the event loop busy, so that no timer runs before it is over.
    if (leftMs <= 0) this.#tell();
    else this.#timer = this.#clock.setTimer(() => this.#tell(), leftMs, { unref: true });
  }

  [Symbol.dispose](): void {
    this.#timer?.cancel();
  }

  #tell(): void {
    this.#say(this.#step, Math.round((this.#clock.monotonic() - this.#startedMs) / 1_000));
    this.#timer = this.#clock.setTimer(() => this.#tell(), againMs, { unref: true });
  }
}
