import { expect, test } from "vitest";
import { assignSlots, slotCount, slotOf, type SlotMember } from "./slots.ts";

const member = (name: string): SlotMember => ({ name, uid: `uid-of-${name}` });
const group = (count: number): readonly SlotMember[] => Array.from({ length: count }, (_, i) => member(`candies-${i}`));

test.each([2, 4, 10])("%i members get nearly equal shares of the keys", (count) => {
  const members = group(count);
  const owners = assignSlots(members);
  const shares = members.map(() => 0);
  for (let i = 0; i < 20_000; i++) {
    const owner = owners[slotOf(`namespace-${i % 7}/candy-${i}`)] ?? 0;
    shares[owner] = (shares[owner] ?? 0) + 1;
  }
  for (const share of shares) expect(share / (20_000 / count)).toBeCloseTo(1, 0);
  expect(Math.max(...shares) / Math.min(...shares)).toBeLessThan(1.6);
});

test("a member that comes takes its share from all and moves nothing else", () => {
  const [before, after] = [assignSlots(group(4)), assignSlots(group(5))];
  let moved = 0;
  for (let slot = 0; slot < slotCount; slot++) {
    if (before[slot] === after[slot]) continue;
    expect(after[slot]).toBe(4);
    moved++;
  }
  expect(moved / slotCount).toBeGreaterThan(0.12);
  expect(moved / slotCount).toBeLessThan(0.28);
});

test("all members agree, in whatever order they see each other, also about two of one name", () => {
  const members = [member("b"), member("a"), { name: "a", uid: "another" }];
  const namesOf = (list: readonly SlotMember[]): readonly string[] =>
    [...assignSlots(list)].map((index) => list[index]?.uid ?? "");
  expect(namesOf(members)).toEqual(namesOf(members.toReversed()));
});
