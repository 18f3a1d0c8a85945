import type { Clock } from "@setpoint/host";

export interface ExpiringCacheOptions {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** The oldest entry makes room for a new one. */
  readonly entriesMax: number;
}

/** Answers that are asked for once and kept for a while; a question that fails is not kept. */
export class ExpiringCache<T> {
  readonly #options: ExpiringCacheOptions;
  readonly #entries = new Map<string, { readonly answer: Promise<T>; readonly untilMs: number }>();

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The kept answer, or what `ask` answers; callers that come while it is asked share the question. */
  get(key: string, ask: () => Promise<T>): Promise<T> {
    const nowMs = this.#options.clock.monotonic();
    const known = this.#entries.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.answer;
    this.#entries.delete(key);
    this.#makeRoom();
    const answer = ask();
    this.#entries.set(key, { answer, untilMs: nowMs + this.#options.ttlMs });
    answer.catch(() => this.#forget(key, answer));
    return answer;
  }

  #makeRoom(): void {
    for (const key of this.#entries.keys()) {
      if (this.#entries.size < this.#options.entriesMax) return;
      this.#entries.delete(key);
    }
  }

  #forget(key: string, answer: Promise<T>): void {
    if (this.#entries.get(key)?.answer === answer) this.#entries.delete(key);
  }
}
