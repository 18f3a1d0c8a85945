import type { QueueEntry } from "./queue-entry.ts";

/** Delayed keys, the one that is due first on top: a binary heap that knows each key's place, so that any can be taken out. */
export class DelayHeap {
  readonly #entries: QueueEntry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get first(): QueueEntry | undefined {
    return this.#entries[0];
  }

  has(entry: QueueEntry): boolean {
    return entry.heapIndex >= 0;
  }

  add(entry: QueueEntry): void {
    this.#rise(entry, this.#entries.push(entry) - 1);
  }

  remove(entry: QueueEntry): void {
    const index = entry.heapIndex;
    if (index < 0) return;
    entry.heapIndex = -1;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    this.#rise(last, index);
    this.#sink(last, last.heapIndex);
  }

  clear(): void {
    for (const entry of this.#entries) entry.heapIndex = -1;
    this.#entries.length = 0;
  }

  #rise(entry: QueueEntry, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#entries[parentIndex];
      if (parent === undefined || parent.dueMs <= entry.dueMs) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(entry, index);
  }

  #sink(entry: QueueEntry, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#earlierChild(index);
      if (child === undefined || child.dueMs >= entry.dueMs) break;
      const childIndex = child.heapIndex;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(entry, index);
  }

  #earlierChild(index: number): QueueEntry | undefined {
    const left = this.#entries[2 * index + 1];
    const right = this.#entries[2 * index + 2];
    return left !== undefined && right !== undefined && right.dueMs < left.dueMs ? right : left;
  }

  #put(entry: QueueEntry, index: number): void {
    this.#entries[index] = entry;
    entry.heapIndex = index;
  }
}
