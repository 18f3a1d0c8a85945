/**
 * Watches the event loop turn by turn: how long the longest took, and what of that was this thread's own
 * work.
 */
import { openSync, readSync } from "node:fs";

/** One turn, in milliseconds. */
interface Turn {
  readonly took: number;
  /** Time on a core. */
  readonly own: number;
  /** Time in which the thread could have run, and others had the cores. */
  readonly waited: number;
}

const none: Turn = { took: 0, own: 0, waited: 0 };
const turnMsMin = 1;

export class Turns {
  // Linux counts both in nanoseconds; what `process.threadCpuUsage` says goes on in steps of 4 ms.
  readonly #file = openSync("/proc/thread-self/schedstat", "r");
  readonly #text = Buffer.alloc(100);
  #longest = none;
  #ownMax = 0;
  #endedMs = performance.now();
  #scheduled = this.#schedule();

  constructor() {
    setInterval(() => this.#note(), turnMsMin).unref();
  }

  /**
   * What there was since the last call; the turn of the event loop in which it is called belongs to what
   * comes after.
   */
  take(): string {
    const { took, own, waited } = this.#longest;
    const text = `${took.toFixed(0)} ms (${own.toFixed(0)} own, ${waited.toFixed(0)} without a core), most own work ${this.#ownMax.toFixed(0)} ms`;
    this.#longest = none;
    this.#ownMax = 0;
    return text;
  }

  #note(): void {
    const scheduled = this.#schedule();
    const took = performance.now() - this.#endedMs;
    const own = scheduled.own - this.#scheduled.own;
    if (took > this.#longest.took) this.#longest = { took, own, waited: scheduled.waited - this.#scheduled.waited };
    this.#ownMax = Math.max(this.#ownMax, own);
    this.#scheduled = scheduled;
    this.#endedMs = performance.now();
  }

  #schedule(): { readonly own: number; readonly waited: number } {
    const length = readSync(this.#file, this.#text, 0, this.#text.length, 0);
    const [own, waited] = this.#text.toString("latin1", 0, length).split(" ").map(Number);
    return { own: (own ?? 0) / 1e6, waited: (waited ?? 0) / 1e6 };
  }
}
