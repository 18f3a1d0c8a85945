import fc from "fast-check";
import { expect, test } from "vitest";
import { isLinearizable } from "./linearizability.ts";
import type { Operation } from "./operation.ts";

const write = (value: string, startMs: number, endMs?: number): Operation => ({
  kind: "write",
  key: "k",
  value,
  startMs,
  endMs,
});
const read = (value: string | undefined, startMs: number, endMs?: number): Operation => ({
  kind: "read",
  key: "k",
  value,
  startMs,
  endMs,
});

test.each([
  ["nothing", []],
  ["a read of a key that is not there", [read(undefined, 0, 1)]],
  ["one after the other", [write("a", 0, 1), read("a", 2, 3), write("b", 4, 5), read("b", 6, 7)]],
  ["two writes at once, in either order", [write("a", 0, 9), write("b", 0, 9), read("a", 10, 11)]],
  [
    "a read beside a write, of the value before",
    [write("a", 0, 1), write("b", 2, 9), read("a", 3, 4), read("b", 5, 6)],
  ],
  ["a write without an answer that happened", [write("a", 0), read(undefined, 5, 6), read("a", 7, 8)]],
  ["a write without an answer that never happened", [write("a", 0), read(undefined, 5, 6), read(undefined, 7, 8)]],
] as const)("linearizable: %s", (_, operations) => {
  expect(isLinearizable(operations)).toBe(true);
});

test.each([
  ["an acknowledged write that is lost", [write("a", 0, 1), read(undefined, 2, 3)]],
  ["a stale read", [write("a", 0, 1), write("b", 2, 3), read("a", 4, 5)]],
  ["a value that nobody wrote", [read("x", 0, 1)]],
  ["back to the old value while a write runs", [write("a", 0, 1), write("b", 2, 9), read("b", 3, 4), read("a", 5, 6)]],
  [
    "a write without an answer that is read and then gone",
    [write("a", 0, 1), write("b", 2), read("b", 3, 4), read("a", 5, 6)],
  ],
  ["a read of a write that has not begun", [read("a", 0, 1), write("a", 2, 3)]],
] as const)("not linearizable: %s", (_, operations) => {
  expect(isLinearizable(operations)).toBe(false);
});

/** What clients see of a register that does each operation at one moment between its start and its end. */
const history = fc
  .array(
    fc.record({
      at: fc.nat(60),
      before: fc.nat(5),
      after: fc.nat(5),
      isWrite: fc.boolean(),
      isAnswered: fc.integer({ min: 0, max: 9 }),
    }),
    {
      minLength: 2,
      maxLength: 40,
    },
  )
  .map((raw) => {
    let value: string | undefined;
    return raw
      .map((each, i) => ({ ...each, i }))
      .sort((a, b) => a.at - b.at)
      .map(({ at, before, after, isWrite, isAnswered, i }): Operation => {
        if (isWrite) value = `v${i}`;
        const endMs = isAnswered === 0 ? undefined : at + after;
        return { kind: isWrite ? "write" : "read", key: "k", value, startMs: at - before, endMs };
      });
  });

test("what a register shows is linearizable, whatever overlaps", () => {
  fc.assert(fc.property(history, (operations) => isLinearizable(operations)));
});

test("a last read of an overwritten value is found, whatever went before", () => {
  fc.assert(
    fc.property(history, (operations) => {
      const stale = [...operations, write("old", 100, 101), write("new", 102, 103), read("old", 104, 105)];
      return !isLinearizable(stale);
    }),
  );
});
