/** Ends a world whose code never yields: an endless loop, in one go or from one promise to the next. */
import { isMainThread, Worker } from "node:worker_threads";

/** Where it was ended. */
export interface Stall {
  readonly run: number;
  readonly afterMs: number;
  /** The innermost first. */
  readonly frames: readonly string[];
}

export interface StallWatcherData {
  /**
   * Whether a world runs, a number that grows with each of its steps, one that grows with each run, and the
   * last run that was ended.
   */
  readonly shared: Int32Array;
  readonly stallMsMax: number;
  readonly lookMs: number;
}

const lookMs = 250;

/**
 * Guarantees: a run that takes one step for longer than `stallMsMax` of real time ends and rejects; the
 * message says where it was. Caveat: only on the main thread of a process; a caller with workers terminates
 * them.
 */
export class StallWatch {
  readonly #shared = new Int32Array(new SharedArrayBuffer(16));
  readonly #worker: Worker | undefined;
  /** By the number of the run; two worlds may run at once. */
  readonly #onStall = new Map<number, (error: Error) => void>();

  constructor(stallMsMax: number) {
    if (!isMainThread) return;
    const data: StallWatcherData = { shared: this.#shared, stallMsMax, lookMs: Math.min(lookMs, stallMsMax) };
    const file = import.meta.url.endsWith(".ts") ? "./stall-watcher.ts" : "./stall-watcher.js";
    this.#worker = new Worker(new URL(file, import.meta.url), { workerData: data, execArgv: [] });
    this.#worker.on("message", (stall: Stall) => {
      this.#onStall.get(stall.run)?.(stalled(stall));
    });
    this.#worker.unref();
  }

  /** To be called at each step. */
  step(): void {
    Atomics.add(this.#shared, 1, 1);
  }

  /** Settles as `run` does, unless it stalls. */
  async watched<T>(run: () => Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const number = Atomics.add(this.#shared, 2, 1) + 1;
    this.#onStall.set(number, reject);
    this.#worker?.ref();
    Atomics.store(this.#shared, 0, 1);
    const ended = async (): Promise<T> => {
      try {
        return await run();
      } finally {
        // Its steps may all be over before the thread's message has had its turn.
        if (Atomics.load(this.#shared, 3) === number) await promise;
      }
    };
    try {
      return await Promise.race([ended(), promise]);
    } finally {
      this.#onStall.delete(number);
      if (this.#onStall.size === 0) {
        Atomics.store(this.#shared, 0, 0);
        this.#worker?.unref();
      }
    }
  }
}

function stalled({ afterMs, frames }: Stall): Error {
  const place = frames.map((frame) => `\n  at ${frame}`).join("");
  return new Error(
    `Cannot go on with the world: no step ended within ${afterMs / 1_000} s; something loops without waiting for anything but itself${place}`,
  );
}

const watches = new Map<number, StallWatch>();

/** One thread for all worlds with the same limit. */
export function stallWatch(stallMsMax: number): StallWatch {
  let watch = watches.get(stallMsMax);
  if (watch === undefined) {
    watch = new StallWatch(stallMsMax);
    watches.set(stallMsMax, watch);
  }
  return watch;
}
