/** How many writes of a member's log took how long, in the buckets of etcd's metrics. */

const healthyMs = 1;
/** Powers of two from 1 ms on, as etcd has them. */
const boundsMs = Array.from({ length: 14 }, (_, power) => 2 ** power);

export class LogWrites {
  /** The duration of each write that was counted, in milliseconds. */
  readonly #counts = new Map<number, number>();
  #counted = 0;

  /** Counts the writes up to `index`, which took so long. */
  upTo(index: number, milliseconds: number): readonly { readonly withinSeconds: number; readonly count: number }[] {
    const tookMs = Math.max(healthyMs, milliseconds);
    this.#counts.set(tookMs, (this.#counts.get(tookMs) ?? 0) + Math.max(0, index - this.#counted));
    this.#counted = Math.max(this.#counted, index);
    return [...boundsMs, Infinity].map((boundMs) => ({ withinSeconds: boundMs / 1_000, count: this.#within(boundMs) }));
  }

  #within(boundMs: number): number {
    return [...this.#counts].reduce((sum, [tookMs, count]) => (tookMs <= boundMs ? sum + count : sum), 0);
  }
}
