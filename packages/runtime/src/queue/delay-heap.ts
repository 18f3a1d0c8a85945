import type { KeyTable } from "./key-table.ts";
import { none } from "./slot-list.ts";

/** Delayed keys, the one that is due first on top: a binary heap that knows each key's place, so that any can be taken out. */
export class DelayHeap {
  readonly #table: Pick<KeyTable, "dueMs" | "heapIndex">;
  readonly #slots: number[] = [];

  constructor(table: Pick<KeyTable, "dueMs" | "heapIndex">) {
    this.#table = table;
  }

  get size(): number {
    return this.#slots.length;
  }

  /** The slot of the key that is due first. */
  get first(): number | undefined {
    return this.#slots[0];
  }

  has(slot: number): boolean {
    return this.#indexOf(slot) !== none;
  }

  add(slot: number): void {
    this.#rise(slot, this.#slots.push(slot) - 1);
  }

  remove(slot: number): void {
    const index = this.#indexOf(slot);
    if (index === none) return;
    this.#table.heapIndex.set(slot, none);
    const last = this.#slots.pop();
    if (last === undefined || last === slot) return;
    this.#rise(last, index);
    this.#sink(last, this.#indexOf(last));
  }

  clear(): void {
    for (const slot of this.#slots) this.#table.heapIndex.set(slot, none);
    this.#slots.length = 0;
  }

  #rise(slot: number, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#slots[parentIndex];
      if (parent === undefined || this.#dueMs(parent) <= this.#dueMs(slot)) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(slot, index);
  }

  #sink(slot: number, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#earlierChild(index);
      if (child === undefined || this.#dueMs(child) >= this.#dueMs(slot)) break;
      const childIndex = this.#indexOf(child);
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(slot, index);
  }

  #earlierChild(index: number): number | undefined {
    const left = this.#slots[2 * index + 1];
    const right = this.#slots[2 * index + 2];
    return left !== undefined && right !== undefined && this.#dueMs(right) < this.#dueMs(left) ? right : left;
  }

  #put(slot: number, index: number): void {
    this.#slots[index] = slot;
    this.#table.heapIndex.set(slot, index);
  }

  #dueMs(slot: number): number {
    return this.#table.dueMs.get(slot);
  }

  #indexOf(slot: number): number {
    return this.#table.heapIndex.get(slot);
  }
}
