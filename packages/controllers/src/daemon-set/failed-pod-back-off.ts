const delayMsMin = 1_000;
const delayMsMax = 15 * 60_000;

interface Replacement {
  readonly atMs: number;
  readonly delayMs: number;
}

/**
 * When a pod that failed on a node may be replaced: the delay doubles with each replacement, and starts again
 * when none was needed for twice the longest delay.
 */
export class FailedPodBackOff {
  readonly #last = new Map<string, Replacement>();

  /** 0 when the pod may be replaced now. */
  untilRetryMs(key: string, nowMs: number): number {
    const last = this.#last.get(key);
    return last === undefined ? 0 : Math.max(0, last.atMs + last.delayMs - nowMs);
  }

  replaced(key: string, nowMs: number): void {
    for (const [each, { atMs }] of this.#last) if (nowMs - atMs > 2 * delayMsMax) this.#last.delete(each);
    const last = this.#last.get(key);
    const delayMs = last === undefined ? delayMsMin : Math.min(last.delayMs * 2, delayMsMax);
    this.#last.set(key, { atMs: nowMs, delayMs });
  }
}
