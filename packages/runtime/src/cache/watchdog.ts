import type { Clock } from "@setpoint/host";

/** Calls back when it was not reset for too long. */
export class Watchdog {
  readonly #clock: Clock;
  readonly #silenceMsMax: number;
  readonly #bark: () => void;
  #lastMs: number;
  #timer: ReturnType<Clock["setTimer"]>;

  constructor(clock: Clock, silenceMsMax: number, bark: () => void) {
    this.#clock = clock;
    this.#silenceMsMax = silenceMsMax;
    this.#bark = bark;
    this.#lastMs = clock.monotonic();
    this.#timer = this.#arm(silenceMsMax);
  }

  /** Only notes the time: a timer for every frame would cost more than the frame. */
  reset(): void {
    this.#lastMs = this.#clock.monotonic();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #arm(delayMs: number): ReturnType<Clock["setTimer"]> {
    return this.#clock.setTimer(() => this.#check(), delayMs, { unref: true });
  }

  #check(): void {
    const silentMs = this.#clock.monotonic() - this.#lastMs;
    if (silentMs >= this.#silenceMsMax) this.#bark();
    else this.#timer = this.#arm(this.#silenceMsMax - silentMs);
  }
}
