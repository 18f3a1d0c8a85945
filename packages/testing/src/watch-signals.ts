/**
 * The signals of a process's open watches. `AbortSignal.any` does the same, and costs 6 % of a schedule
 * (`bench/simulation.ts`).
 */
export class WatchSignals {
  readonly #open = new Set<AbortController>();

  /** Aborts with the caller's signal, or when all watches end. */
  linkedTo(signal: AbortSignal | undefined): AbortSignal {
    const watch = new AbortController();
    const onSignal = (): void => {
      this.#open.delete(watch);
      watch.abort(signal?.reason);
    };
    this.#open.add(watch);
    if (signal?.aborted === true) onSignal();
    else signal?.addEventListener("abort", onSignal, { once: true });
    return watch.signal;
  }

  endAll(reason: Error): void {
    for (const watch of this.#open) watch.abort(reason);
    this.#open.clear();
  }
}
