import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LinkedList, type ListEntry } from "./linked-list.ts";

test("a list keeps the order in which values were appended, whichever are removed", () => {
  const step = fc.record({ isAdded: fc.boolean(), which: fc.nat() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const list = new LinkedList<number>();
      const present: ListEntry<number>[] = [];
      for (const [value, { isAdded, which }] of steps.entries()) {
        if (isAdded) present.push(list.append(value));
        else for (const removed of present.splice(which % Math.max(1, present.length), 1)) list.remove(removed);
        expect([list.first, list.size]).toEqual([present[0]?.value, present.length]);
      }
      for (const entry of present) {
        expect(list.first).toBe(entry.value);
        list.remove(entry);
      }
      expect([list.first, list.size]).toEqual([undefined, 0]);
    }),
  );
});
