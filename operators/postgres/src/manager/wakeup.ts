/** A pause that ends early when there is something to do. */
import type { ManagerClock } from "./manager-clock.ts";

export class Wakeup {
  readonly #clock: ManagerClock;
  #pause = new AbortController();

  constructor(clock: ManagerClock) {
    this.#clock = clock;
  }

  /** Ends the pause that is going on, or the next one. */
  wake(): void {
    this.#pause.abort();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(ms, AbortSignal.any([signal, this.#pause.signal]));
    this.#pause = new AbortController();
  }
}
