/** Ordered by time, then by a random number of the seed. */
export interface HeapTimer {
  readonly dueMs: number;
  readonly order: number;
  isCancelled: boolean;
}

/** Cancelled timers stay until they surface, or until they are the most of a heap of this size. */
const sweepSizeMin = 64;

/** The timers of a virtual clock, the next one first. Cancelling costs nothing but a mark. */
export class TimerHeap<T extends HeapTimer> {
  #timers: T[] = [];
  #cancelled = 0;

  push(timer: T): void {
    const timers = this.#timers;
    let index = timers.length;
    timers.push(timer);
    while (index > 0) {
      const above = (index - 1) >>> 1;
      const parent = timers[above];
      if (parent === undefined || !isBefore(timer, parent)) break;
      timers[index] = parent;
      index = above;
    }
    timers[index] = timer;
  }

  cancel(timer: T): void {
    if (timer.isCancelled) return;
    timer.isCancelled = true;
    this.#cancelled++;
    if (this.#timers.length >= sweepSizeMin && this.#cancelled * 2 > this.#timers.length) this.#sweep();
  }

  /** The next timer that was not cancelled. */
  first(): T | undefined {
    for (let timer = this.#timers[0]; timer !== undefined; timer = this.#timers[0]) {
      if (!timer.isCancelled) return timer;
      this.#cancelled--;
      this.#removeFirst();
    }
    return undefined;
  }

  /** Removes what `first` returned. */
  shift(): void {
    const timer = this.#timers[0];
    if (timer === undefined) return;
    // Cancelling a timer that has fired must not count.
    timer.isCancelled = true;
    this.#removeFirst();
  }

  #removeFirst(): void {
    const timers = this.#timers;
    const last = timers.pop();
    if (last === undefined || timers.length === 0) return;
    let index = 0;
    for (;;) {
      const below = this.#smallerChild(index);
      const child = timers[below];
      if (child === undefined || !isBefore(child, last)) break;
      timers[index] = child;
      index = below;
    }
    timers[index] = last;
  }

  #smallerChild(index: number): number {
    const left = this.#timers[2 * index + 1];
    const right = this.#timers[2 * index + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * index + 2 : 2 * index + 1;
  }

  #sweep(): void {
    const kept = this.#timers.filter(({ isCancelled }) => !isCancelled);
    this.#timers = [];
    this.#cancelled = 0;
    for (const timer of kept) this.push(timer);
  }
}

function isBefore(a: HeapTimer, b: HeapTimer): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
