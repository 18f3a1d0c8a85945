import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DelayHeap } from "./delay-heap.ts";
import { QueueEntry } from "./queue-entry.ts";

function entry(dueMs: number): QueueEntry {
  const created = new QueueEntry(`a/${dueMs}`);
  created.dueMs = dueMs;
  return created;
}

const times = (entries: Iterable<QueueEntry>): readonly number[] =>
  [...entries].map(({ dueMs }) => dueMs).toSorted((a, b) => a - b);

test("whatever is added and taken out, the first is always the one that is due first", () => {
  const step = fc.record({ isAdded: fc.boolean(), dueMs: fc.nat(20), which: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new DelayHeap();
      const present: QueueEntry[] = [];
      for (const { isAdded, dueMs, which } of steps) {
        if (isAdded) {
          const added = entry(dueMs);
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
        expect(heap.first?.dueMs).toBe(times(present)[0]);
        expect(present.every((each) => heap.has(each))).toBe(true);
      }
    }),
  );
});

test("entries come out in the order in which they are due", () => {
  const dueMs = Array.from({ length: 200 }, (_, i) => (i * 7_919) % 211);
  const heap = new DelayHeap();
  for (const each of dueMs) heap.add(entry(each));
  const taken: QueueEntry[] = [];
  for (let i = 0; i < dueMs.length; i++) {
    const { first } = heap;
    if (first === undefined) break;
    taken.push(first);
    heap.remove(first);
  }
  expect(taken.map((each) => each.dueMs)).toEqual(times(taken));
  expect([taken.length, heap.size, heap.first]).toEqual([200, 0, undefined]);
});

test("a cleared heap has nothing, and what was in it can be added again", () => {
  const heap = new DelayHeap();
  const entries = [entry(3), entry(1), entry(2)];
  for (const each of entries) heap.add(each);
  heap.clear();
  expect([heap.size, heap.first, entries.some((each) => heap.has(each))]).toEqual([0, undefined, false]);
  for (const each of entries) heap.add(each);
  expect([heap.size, heap.first?.dueMs]).toEqual([3, 1]);
});
