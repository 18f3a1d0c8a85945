/** Permits that come back with time: at most `capacity` at once, all of them within `refillMs`. */
export class TokenBucket {
  readonly #refillMs: number;
  #tokens = Number.POSITIVE_INFINITY;
  #countedMs = 0;

  constructor(refillMs: number) {
    this.#refillMs = refillMs;
  }

  /** Takes a permit; otherwise returns in how many milliseconds there is one. The capacity may differ from call to call. */
  take(capacity: number, nowMs: number): number {
    const gained = ((nowMs - this.#countedMs) / this.#refillMs) * capacity;
    this.#tokens = Math.min(capacity, this.#tokens + gained);
    this.#countedMs = nowMs;
    if (this.#tokens < 1) return ((1 - this.#tokens) / capacity) * this.#refillMs;
    this.#tokens--;
    return 0;
  }
}
