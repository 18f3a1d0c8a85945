import type { Clock, Timer } from "@setpoint/host";

interface Mark {
  readonly atMs: number;
  readonly revision: number;
}

/** How often it notes where the server is. */
const markMs = 100;
/** Longer than any lag that a rule may ask for. */
const marksMax = 36_100;

/** Records which revision the server had at which time, so that a fault can serve a client an older state. */
export class LaggingHistory {
  readonly #clock: Clock;
  readonly #revision: () => number;
  #marks: Mark[] = [];
  #timer: Timer | undefined;

  constructor(clock: Clock, revision: () => number) {
    this.#clock = clock;
    this.#revision = revision;
    this.#note();
  }

  /** The revision at that time; the oldest known one when the time is before the first record. */
  revisionBefore(lagMs: number): number {
    const wantedMs = this.#clock.monotonic() - lagMs;
    let found = this.#marks[0]?.revision ?? this.#revision();
    for (const { atMs, revision } of this.#marks) {
      if (atMs > wantedMs) break;
      found = revision;
    }
    return found;
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #note(): void {
    const revision = this.#revision();
    if (this.#marks.at(-1)?.revision !== revision) this.#marks.push({ atMs: this.#clock.monotonic(), revision });
    if (this.#marks.length > marksMax) this.#marks = this.#marks.slice(-marksMax / 2);
    this.#timer = this.#clock.setTimer(() => this.#note(), markMs, { unref: true });
  }
}
