import { type Clock, TimeSlices } from "@setpoint/host";
import type { WorkQueue } from "../queue/work-queue.ts";

/** The worker that has a key. */
export interface Worker {
  /** Gives the worker to another key: when the run has ended, or when it does not end. */
  release(this: void): void;
}

/** Where the keys come from, and what is done with them. */
export interface WorkersOptions {
  readonly clock: Clock;
  readonly queue: Pick<WorkQueue, "onReady" | "take">;
  /** Keys that run at once. */
  readonly concurrency: number;
  /** Works on a key until it may be taken again; never rejects. */
  work(this: void, key: string, worker: Worker): Promise<void>;
}

/** The workers of a controller: each takes a ready key from the queue, and the next one when it is free. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #slices: TimeSlices;
  #isActive = false;
  #activeCount = 0;
  #isPumping = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#slices = new TimeSlices(options.clock);
    options.queue.onReady(() => {
      if (this.#activeCount === 0) this.#slices.begin();
      this.#pump();
    });
  }

  /** Whether they take keys. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** Workers that have a key. */
  get activeCount(): number {
    return this.#activeCount;
  }

  /**
   * Begins to take keys, in a turn of the event loop of its own: the one that made the caches complete has
   * had its work.
   */
  start(): void {
    this.#isActive = true;
    this.#isPumping = true;
    this.#pumpLater();
  }

  /** Takes no more keys. */
  stop(): void {
    this.#isActive = false;
  }

  /** Resolves when all keys that were taken may be taken again. */
  async allEnded(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  #pump(): void {
    // A run that ends as soon as it begins comes back here: the loop that began it goes on.
    if (this.#isPumping) return;
    this.#isPumping = true;
    const { queue, concurrency } = this.#options;
    while (this.#isActive && this.#activeCount < concurrency) {
      if (this.#slices.isOver()) return this.#pumpLater();
      const key = queue.take();
      if (key === undefined) break;
      this.#begin(key);
    }
    this.#isPumping = false;
  }

  #begin(key: string): void {
    this.#activeCount++;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#activeCount--;
      this.#pump();
    };
    const work = this.#options.work(key, { release });
    this.#inFlight.add(work);
    void work.then(() => this.#inFlight.delete(work));
  }

  /**
   * Runs that wait for nothing follow each other without a turn of the event loop, a hundred thousand after a
   * start.
   */
  #pumpLater(): void {
    void this.#slices.pause().then(() => this.#pumpOn());
  }

  #pumpOn(): void {
    this.#isPumping = false;
    this.#pump();
  }
}
