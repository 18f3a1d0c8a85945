/** When this process last gave a primary its consent: the operator waits for the end of that lease. */
import type { LastGrant } from "../instance/instance-protocol.ts";
import type { ManagerClock } from "./manager-clock.ts";

export class GivenGrants {
  readonly #clock: Pick<ManagerClock, "monotonic">;
  /** An earlier process of this instance may have given one right before its end. */
  #last: { readonly term: number; readonly atMs: number };

  constructor(clock: Pick<ManagerClock, "monotonic">) {
    this.#clock = clock;
    this.#last = { term: 0, atMs: clock.monotonic() };
  }

  given(term: number): void {
    this.#last = { term, atMs: this.#clock.monotonic() };
  }

  get last(): LastGrant {
    const { term, atMs } = this.#last;
    return { term, agoMs: this.#clock.monotonic() - atMs };
  }
}
