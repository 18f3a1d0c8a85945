import { Column, roomMin } from "./column.ts";
import type { Flow } from "./fair-level.ts";
import { Links, none } from "./slot-list.ts";

/** Room that an empty table keeps: queues run empty all the time, after few keys. */
const roomKeptMax = 1_024;

/**
 * Everything that a queue knows of its keys: a slot a key, a column a property. Objects instead, each of which lives until its key has
 * run, leave holes in the old generation after a start: with a hundred thousand of them a full collection moved what was
 * left between them, in a pause of ten milliseconds.
 */
export class KeyTable {
  /** Where it waits: the number of its level; 0: it is not ready. */
  readonly level: Column = Column.ofBytes();
  /** Its neighbours among the ready keys of its flow, and among those of its level by arrival. */
  readonly inFlow: Links = new Links();
  readonly inLevel: Links = new Links();
  readonly readyMs: Column = Column.ofTimes();
  /** 1: it is being worked on. */
  readonly isRunning: Column = Column.ofBytes();
  readonly startedMs: Column = Column.ofTimes();
  /** The level that it was taken from: a retry is as urgent as what it retries. */
  readonly takenFrom: Column = Column.ofBytes();
  /** The level in which it was added while being worked on; 0: it was not. */
  readonly again: Column = Column.ofBytes();
  /** When it becomes ready by itself, in which level, and its place in the heap of those that do; −1: it does not. */
  readonly dueMs: Column = Column.ofTimes();
  readonly dueLevel: Column = Column.ofBytes();
  readonly heapIndex: Column = Column.ofIntegers();
  readonly failures: Column = Column.ofIntegers();
  /** Of a rate limit: the moment up to which its runs are spent. */
  readonly spentUntilMs: Column = Column.ofTimes();
  readonly #state: readonly Column[] = [
    ...[this.level, this.readyMs, this.isRunning, this.startedMs, this.takenFrom, this.again],
    ...[this.dueMs, this.dueLevel, this.heapIndex, this.failures, this.spentUntilMs],
  ];
  readonly #slots = new Map<string, number>();
  /** By slot. */
  #keys: (string | undefined)[] = [];
  #flows: (Flow | undefined)[] = [];
  /** Slots without a key, each with the next in the place of its neighbour. */
  #firstFree = none;
  #room = roomMin;

  get size(): number {
    return this.#slots.size;
  }

  /** Undefined when nothing is known of the key. */
  find(key: string): number | undefined {
    return this.#slots.get(key);
  }

  slots(): Iterable<number> {
    return this.#slots.values();
  }

  /** A slot for a key that has none; everything in it is 0, and it is in no list and no heap. */
  add(key: string): number {
    const slot = this.#firstFree === none ? this.#keys.length : this.#firstFree;
    if (slot === this.#firstFree) this.#firstFree = this.inFlow.next.get(slot);
    else if (slot === this.#room) this.#resize(2 * this.#room);
    for (const column of this.#state) column.set(slot, 0);
    this.heapIndex.set(slot, none);
    this.#keys[slot] = key;
    this.#flows[slot] = undefined;
    this.#slots.set(key, slot);
    return slot;
  }

  remove(slot: number): void {
    this.#slots.delete(this.keyOf(slot));
    this.#keys[slot] = undefined;
    if (this.#slots.size === 0 && this.#room > roomKeptMax) return this.#reset();
    this.inFlow.next.set(slot, this.#firstFree);
    this.#firstFree = slot;
  }

  keyOf(slot: number): string {
    return this.#keys[slot] ?? "";
  }

  /** Whose turn it shares, or shared when it was ready last. */
  flowOf(slot: number): Flow | undefined {
    return this.#flows[slot];
  }

  setFlow(slot: number, flow: Flow): void {
    this.#flows[slot] = flow;
  }

  /** The first keys after a start were many; the next are few. */
  #reset(): void {
    this.#keys = [];
    this.#flows = [];
    this.#firstFree = none;
    this.#resize(roomMin);
  }

  #resize(room: number): void {
    this.#room = room;
    const { inFlow, inLevel } = this;
    for (const column of [...this.#state, inFlow.previous, inFlow.next, inLevel.previous, inLevel.next])
      column.resize(room);
  }
}
