import type { FrameQueue } from "./frame-queue.ts";

/** The open watches of a server, by resource. */
export class WatchSet {
  readonly #queues = new Map<string, Set<FrameQueue>>();

  add(group: string, resource: string, queue: FrameQueue): void {
    const key = `${resource}.${group}`;
    let queues = this.#queues.get(key);
    if (queues === undefined) {
      queues = new Set();
      this.#queues.set(key, queues);
    }
    queues.add(queue);
  }

  delete(group: string, resource: string, queue: FrameQueue): void {
    this.#queues.get(`${resource}.${group}`)?.delete(queue);
  }

  end({ group, resource }: { readonly group: string; readonly resource: string }): void {
    // Ending one takes it out of the set, which iteration of a Set allows.
    for (const queue of this.#queues.get(`${resource}.${group}`) ?? []) queue.end();
  }

  endAll(): void {
    for (const queues of this.#queues.values()) for (const queue of queues) queue.end();
  }
}
