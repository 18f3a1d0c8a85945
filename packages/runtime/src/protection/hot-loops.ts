/** The pace of a key that runs again and again for no reason but itself: doubled from the first to the largest. */
const slowMsFirst = 1_000;
const slowMsMax = 60_000;
const windowMs = 60_000;

/** Runs of one key that nothing but the key itself gave a reason for. */
interface Chain {
  windowStartMs: number;
  count: number;
  /** 0: not slowed down. */
  slowMs: number;
  notBeforeMs: number;
}

/**
 * Finds keys that run in circles: a status with the time in it, a `requeueAfter(0)` without an end, a reconcile that changes a
 * child there and back. Keys that run for a reason are not kept, so it costs them nothing.
 */
export class HotLoops {
  readonly #runsPerMinute: number;
  readonly #chains = new Map<string, Chain>();

  constructor(runsPerMinute: number) {
    this.#runsPerMinute = runsPerMinute;
  }

  /** Keys that are slowed down. */
  get slowCount(): number {
    let count = 0;
    for (const { slowMs } of this.#chains.values()) if (slowMs > 0) count++;
    return count;
  }

  has(key: string): boolean {
    return this.#chains.size > 0 && this.#chains.has(key);
  }

  isSlow(key: string): boolean {
    return (this.#chains.get(key)?.slowMs ?? 0) > 0;
  }

  /** In how many milliseconds the key may run. */
  waitMs(key: string, nowMs: number): number {
    if (this.#chains.size === 0) return 0;
    return Math.max(0, (this.#chains.get(key)?.notBeforeMs ?? 0) - nowMs);
  }

  /** Something that the controller did not do itself has changed, or the key is at rest. Says whether it was slowed down. */
  release(key: string): boolean {
    if (this.#chains.size === 0) return false;
    const wasSlow = this.isSlow(key);
    this.#chains.delete(key);
    return wasSlow;
  }

  /** A run has ended and the next is due soon, although no input has changed. Says whether the loop was noticed just now. */
  again(key: string, nowMs: number): boolean {
    const chain = this.#chains.get(key) ?? { windowStartMs: nowMs, count: 0, slowMs: 0, notBeforeMs: 0 };
    this.#chains.set(key, chain);
    if (chain.slowMs > 0) {
      chain.slowMs = Math.min(2 * chain.slowMs, slowMsMax);
      chain.notBeforeMs = nowMs + chain.slowMs;
      return false;
    }
    if (nowMs - chain.windowStartMs > windowMs) {
      chain.windowStartMs = nowMs;
      chain.count = 0;
    }
    if (++chain.count < this.#runsPerMinute) return false;
    chain.slowMs = slowMsFirst;
    chain.notBeforeMs = nowMs + chain.slowMs;
    return true;
  }
}
