/** Permits that come back with time: at most `capacity` at once, all of them within `refillMs`. */
export class TokenBucket {
  readonly #refillMs: number;
  #tokens = Number.POSITIVE_INFINITY;
  #countedMs = 0;
  /**
   * Callers that got no permit and have not come back with success. The next caller's delay counts all of
   * them.
   */
  #waiting = 0;

  constructor(refillMs: number) {
    this.#refillMs = refillMs;
  }

  /**
   * Takes a permit; otherwise returns in how many milliseconds there is one for the caller, after those that
   * were sent away before. The capacity may differ from call to call.
   */
  take(capacity: number, nowMs: number): number {
    const gained = ((nowMs - this.#countedMs) / this.#refillMs) * capacity;
    this.#tokens = Math.min(capacity, this.#tokens + gained);
    this.#countedMs = nowMs;
    if (this.#tokens < 1) {
      const waitMs = ((1 - this.#tokens + this.#waiting++) / capacity) * this.#refillMs;
      return Math.min(waitMs, this.#refillMs);
    }
    this.#tokens--;
    this.#waiting = Math.max(0, this.#waiting - 1);
    return 0;
  }
}
