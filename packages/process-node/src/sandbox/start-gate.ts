/**
 * Bounds how many pods of a node begin at the same time. Pods that all start together are all Ready at the
 * end; a few after the other are Ready early, the last no later, and the API server is not starved.
 */
export class StartGate {
  readonly #max: number;
  #underway = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Begins a pod: waits while there is enough to do, the longest wait first. */
  async enter<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underway < this.#max) this.#underway++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#finish(work);
  }

  /** Goes on with a pod that has begun: never waits, but the next pods wait for it. */
  async goOn<T>(work: () => Promise<T>): Promise<T> {
    this.#underway++;
    return this.#finish(work);
  }

  async #finish<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.#underway--;
      this.#admit();
    }
  }

  /** Who is admitted has its place from now on. */
  #admit(): void {
    while (this.#underway < this.#max) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#underway++;
      next();
    }
  }
}
