import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DelayHeap } from "./delay-heap.ts";
import { KeyTable } from "./key-table.ts";

function createHeap() {
  const table = new KeyTable();
  let count = 0;
  /** The slot of a key that is due then. */
  const due = (dueMs: number): number => {
    const slot = table.add(`a/${count++}`);
    table.dueMs.set(slot, dueMs);
    return slot;
  };
  const dueMsOf = (slot: number | undefined): number | undefined =>
    slot === undefined ? undefined : table.dueMs.get(slot);
  const times = (slots: readonly number[]): readonly number[] =>
    slots.map((slot) => table.dueMs.get(slot)).toSorted((a, b) => a - b);
  return { heap: new DelayHeap(table), due, dueMsOf, times };
}

test("whatever is added and taken out, the first is always the one that is due first", () => {
  const step = fc.record({ isAdded: fc.boolean(), dueMs: fc.nat(20), which: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { heap, due, dueMsOf, times } = createHeap();
      const present: number[] = [];
      for (const { isAdded, dueMs, which } of steps) {
        if (isAdded) {
          const added = due(dueMs);
          expect(heap.has(added)).toBe(false);
          heap.add(added);
          present.push(added);
          expect(heap.has(added)).toBe(true);
        } else {
          const [removed] = present.splice(which % Math.max(1, present.length), 1);
          if (removed === undefined) continue;
          heap.remove(removed);
          heap.remove(removed);
          expect(heap.has(removed)).toBe(false);
        }
        expect(heap.size).toBe(present.length);
        expect(dueMsOf(heap.first)).toBe(times(present)[0]);
        expect(present.every((each) => heap.has(each))).toBe(true);
      }
    }),
  );
});

test("entries come out in the order in which they are due", () => {
  const dueMs = Array.from({ length: 200 }, (_, i) => (i * 7_919) % 211);
  const { heap, due, dueMsOf, times } = createHeap();
  for (const each of dueMs) heap.add(due(each));
  const taken: number[] = [];
  for (let i = 0; i < dueMs.length; i++) {
    const { first } = heap;
    if (first === undefined) break;
    taken.push(first);
    heap.remove(first);
  }
  expect(taken.map(dueMsOf)).toEqual(times(taken));
  expect([taken.length, heap.size, heap.first]).toEqual([200, 0, undefined]);
});

test("a cleared heap has nothing, and what was in it can be added again", () => {
  const { heap, due, dueMsOf } = createHeap();
  const entries = [due(3), due(1), due(2)];
  for (const each of entries) heap.add(each);
  heap.clear();
  expect([heap.size, heap.first, entries.some((each) => heap.has(each))]).toEqual([0, undefined, false]);
  for (const each of entries) heap.add(each);
  expect([heap.size, dueMsOf(heap.first)]).toEqual([3, 1]);
});
