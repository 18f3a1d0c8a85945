import { type Clock, TimeSlices } from "@setpoint/host";
import type { WorkQueue } from "../queue/work-queue.ts";
import { Underway } from "./underway.ts";

/** Where the keys come from, and what is done with them. */
export interface WorkersOptions {
  readonly clock: Clock;
  readonly queue: Pick<WorkQueue, "onReady" | "take">;
  /** Keys that run at once. */
  readonly concurrency: number;
  /**
   * Works on a key until it may be taken again; never rejects. `free` gives its worker to another key: when the run has ended,
   * or when it does not end.
   */
  work(this: void, key: string, free: () => void): Promise<void>;
}

/** The workers of a controller: each takes a ready key from the queue, and the next one when it is free. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #underway = new Underway();
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

  /** Begins to take keys, in a turn of the event loop of its own: the one that made the caches complete has had its work. */
  start(): void {
    this.#isActive = true;
    this.#isPumping = true;
    this.#pumpLater();
  }

  /** Takes no more keys. */
  stop(): void {
    this.#isActive = false;
  }

  /** Resolves when no key is worked on any more. */
  allEnded(): Promise<void> {
    return this.#underway.allEnded();
  }

  #pump(): void {
    // A run that is over as soon as it began comes back here: the loop that began it goes on.
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
    this.#underway.begin();
    this.#activeCount++;
    let isFree = false;
    const free = (): void => {
      if (isFree) return;
      isFree = true;
      this.#activeCount--;
      this.#pump();
    };
    void this.#options.work(key, free).then(() => this.#underway.end());
  }

  /** Runs that wait for nothing follow each other without a turn of the event loop, a hundred thousand after a start. */
  #pumpLater(): void {
    void this.#slices.pause().then(() => this.#pumpOn());
  }

  #pumpOn(): void {
    this.#isPumping = false;
    this.#pump();
  }
}
