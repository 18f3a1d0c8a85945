/** An entry knows its place, so that any can be removed; −1 while it is in no heap. */
export interface HeapEntry {
  readonly dueMs: number;
  index: number;
}

/** A binary heap of delays: the one that is due first is on top. */
export class DelayHeap<Entry extends HeapEntry> {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** The entry that is due first. */
  get first(): Entry | undefined {
    return this.#entries[0];
  }

  add(entry: Entry): void {
    this.#rise(entry, this.#entries.push(entry) - 1);
  }

  remove(entry: Entry): void {
    const { index } = entry;
    if (index === -1) return;
    entry.index = -1;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    this.#rise(last, index);
    this.#sink(last, last.index);
  }

  #rise(entry: Entry, from: number): void {
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

  #sink(entry: Entry, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#earlierChild(index);
      if (child === undefined || child.dueMs >= entry.dueMs) break;
      const childIndex = child.index;
      this.#put(child, index);
      index = childIndex;
    }
    this.#put(entry, index);
  }

  #earlierChild(index: number): Entry | undefined {
    const left = this.#entries[2 * index + 1];
    const right = this.#entries[2 * index + 2];
    return left !== undefined && right !== undefined && right.dueMs < left.dueMs ? right : left;
  }

  #put(entry: Entry, index: number): void {
    this.#entries[index] = entry;
    entry.index = index;
  }
}
