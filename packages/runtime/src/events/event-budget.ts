/** How many new events each object may cause; as client-go's spam filter. */

const burst = 25;
const refillMs = 300_000;
/** Objects that are remembered; the one asked about longest ago is forgotten first. */
const objectsMax = 4_096;

interface Bucket {
  readonly tokens: number;
  readonly filledMs: number;
}

export class EventBudget {
  readonly #buckets = new Map<string, Bucket>();

  /** Whether an object may cause one more. */
  take(uid: string, nowMs: number): boolean {
    const { tokens, filledMs } = this.#filled(uid, nowMs);
    const isAllowed = tokens > 0;
    this.#buckets.delete(uid);
    this.#buckets.set(uid, { tokens: isAllowed ? tokens - 1 : 0, filledMs });
    if (this.#buckets.size > objectsMax) this.#forgetOldest();
    return isAllowed;
  }

  #filled(uid: string, nowMs: number): Bucket {
    const bucket = this.#buckets.get(uid);
    if (bucket === undefined) return { tokens: burst, filledMs: nowMs };
    const refills = Math.floor((nowMs - bucket.filledMs) / refillMs);
    return { tokens: Math.min(burst, bucket.tokens + refills), filledMs: bucket.filledMs + refills * refillMs };
  }

  #forgetOldest(): void {
    const oldest = this.#buckets.keys().next();
    if (oldest.done !== true) this.#buckets.delete(oldest.value);
  }
}
