/**
 * Moments of this process that others keep and give back: a lease counts from when this instance said that it
 * is there, however long the answer is under way.
 */
import type { ManagerClock } from "./manager-clock.ts";

export class Moments {
  readonly #process: string;
  readonly #clock: Pick<ManagerClock, "monotonic">;

  /** `process` is a name that no other process has: its clock may count from another start. */
  constructor(process: string, clock: Pick<ManagerClock, "monotonic">) {
    this.#process = process;
    this.#clock = clock;
  }

  now(): string {
    return `${this.#process}/${this.#clock.monotonic()}`;
  }

  /** By the clock of this process; undefined for a moment of another one. */
  monotonicOf(moment: string): number | undefined {
    const [process, text = ""] = moment.split("/");
    return process === this.#process && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  }
}
