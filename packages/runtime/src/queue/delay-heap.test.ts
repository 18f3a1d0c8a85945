import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DelayHeap, type HeapEntry } from "./delay-heap.ts";

function createHeap() {
  const due = (dueMs: number): HeapEntry => ({ dueMs, index: -1 });
  const times = (entries: readonly HeapEntry[]): readonly number[] =>
    entries.map((each) => each.dueMs).toSorted((a, b) => a - b);
  return { heap: new DelayHeap<HeapEntry>(), due, times };
}

test("whatever is added and taken out, the first is always the one that is due first", () => {
  const step = fc.record({ isAdded: fc.boolean(), dueMs: fc.nat(20), which: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { heap, due, times } = createHeap();
      const present: HeapEntry[] = [];
      for (const { isAdded, dueMs, which } of steps) {
        if (isAdded) {
          const added = due(dueMs);
          expect(added.index).toBe(-1);
          heap.add(added);
          present.push(added);
          expect(added.index).toBeGreaterThanOrEqual(0);
        } else {
          const [removed] = present.splice(which % Math.max(1, present.length), 1);
          if (removed === undefined) continue;
          heap.remove(removed);
          heap.remove(removed);
          expect(removed.index).toBe(-1);
        }
        expect(heap.size).toBe(present.length);
        expect(heap.first?.dueMs).toBe(times(present)[0]);
        expect(present.every((each) => each.index >= 0)).toBe(true);
      }
    }),
  );
});

test("entries come out in the order in which they are due", () => {
  const dueMs = Array.from({ length: 200 }, (_, i) => (i * 7_919) % 211);
  const { heap, due, times } = createHeap();
  for (const each of dueMs) heap.add(due(each));
  const taken: HeapEntry[] = [];
  for (let i = 0; i < dueMs.length; i++) {
    const { first } = heap;
    if (first === undefined) break;
    taken.push(first);
    heap.remove(first);
  }
  expect(taken.map((each) => each.dueMs)).toEqual(times(taken));
  expect([taken.length, heap.size, heap.first]).toEqual([200, 0, undefined]);
});
