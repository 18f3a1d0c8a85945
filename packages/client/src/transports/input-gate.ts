import type { Clock } from "@setpoint/host";

/**
 * Lets inputs into a program one at a time: the next one only after everything that the one before has set in
 * motion is done. So a run is a sequence of inputs, and the same sequence gives the same run.
 */
export class InputGate {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];
  #isPumping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `deliver` is called in its turn, as the first thing of a turn of the event loop. */
  enter(deliver: () => void): void {
    this.#waiting.push(deliver);
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#clock.defer(() => this.#pump());
  }

  #pump(): void {
    const deliver = this.#waiting.shift();
    if (deliver === undefined) {
      this.#isPumping = false;
      return;
    }
    this.#clock.defer(() => this.#pump());
    deliver();
  }
}
