/** One entry of a list. The code that appends a value keeps the entry, to remove the value later. */
export interface ListEntry<T> {
  readonly value: T;
  previous: ListEntry<T> | undefined;
  next: ListEntry<T> | undefined;
}

/**
 * A doubly linked list: append, remove and read the first in O(1). The first of a Set is slow to find after
 * many deletions.
 */
export class LinkedList<T> {
  #first: ListEntry<T> | undefined;
  #last: ListEntry<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.value;
  }

  append(value: T): ListEntry<T> {
    const entry: ListEntry<T> = { value, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    this.#size++;
    return entry;
  }

  /** The entry must be of this list. */
  remove(entry: ListEntry<T>): void {
    const { previous, next } = entry;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    this.#size--;
  }
}
