import * as fc from "fast-check";
import { expect, test } from "vitest";
import { KeyTable } from "./key-table.ts";
import { none } from "./slot-list.ts";

test("whatever comes and goes, each key has a slot of its own and what was said of it", () => {
  const step = fc.record({ isAdded: fc.boolean(), key: fc.nat(200).map(String), failures: fc.nat(9) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const table = new KeyTable();
      const present = new Map<string, number>();
      for (const { isAdded, key, failures } of steps) {
        const slot = table.find(key);
        expect(slot !== undefined).toBe(present.has(key));
        if (isAdded) table.failures.set(slot ?? table.add(key), failures);
        else if (slot !== undefined) table.remove(slot);
        if (isAdded) present.set(key, failures);
        else present.delete(key);
      }
      const slots = [...table.slots()];
      expect(new Set(slots).size).toBe(present.size);
      expect(table.size).toBe(present.size);
      expect(new Map(slots.map((slot) => [table.keyOf(slot), table.failures.get(slot)]))).toEqual(present);
    }),
  );
});

test("nothing of the key that had a slot before is left in it", () => {
  const table = new KeyTable();
  const [first] = [table.add("a"), table.add("b")];
  table.level.set(first, 2);
  table.dueMs.set(first, 5.5);
  table.heapIndex.set(first, 3);
  table.setFlow(first, { name: "x" } as never);
  table.remove(first);
  const again = table.add("c");
  expect(again).toBe(first);
  expect([table.level.get(again), table.dueMs.get(again), table.heapIndex.get(again)]).toEqual([0, 0, none]);
  expect(table.flowOf(again)).toBeUndefined();
});

test("what was said of keys stays while there come more, and when all but few have gone", () => {
  const table = new KeyTable();
  const slots = Array.from({ length: 2_000 }, (_, i) => table.add(`a/${i}`));
  for (const slot of slots) table.readyMs.set(slot, slot + 0.25);
  for (const slot of slots) table.inFlow.append({ first: none, last: slot - 1 }, slot);
  const wanted = slots.map((slot) => [slot + 0.25, slot - 1]);
  expect(slots.map((slot) => [table.readyMs.get(slot), table.inFlow.previous.get(slot)])).toEqual(wanted);
  for (const slot of slots) if (slot !== 5) table.remove(slot);
  expect([table.size, table.keyOf(5), table.readyMs.get(5)]).toEqual([1, "a/5", 5.25]);
  table.remove(5);
  // It begins anew, without the room for the many.
  expect([table.size, table.add("b")]).toEqual([0, 0]);
});
