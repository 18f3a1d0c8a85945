import { Column } from "./column.ts";

/** No slot: the end of a list. */
export const none = -1;

/** The ends of a list of slots; both are `none` when it is empty. */
export interface SlotList {
  first: number;
  last: number;
}

/** The neighbours of slots in lists, each in one at most. */
export class Links {
  readonly previous: Column = Column.ofIntegers();
  readonly next: Column = Column.ofIntegers();

  append(list: SlotList, slot: number): void {
    this.previous.set(slot, list.last);
    this.next.set(slot, none);
    if (list.last === none) list.first = slot;
    else this.next.set(list.last, slot);
    list.last = slot;
  }

  remove(list: SlotList, slot: number): void {
    const previous = this.previous.get(slot);
    const next = this.next.get(slot);
    if (previous === none) list.first = next;
    else this.next.set(previous, next);
    if (next === none) list.last = previous;
    else this.previous.set(next, previous);
  }
}
