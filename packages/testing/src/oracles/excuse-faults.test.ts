import { expect, test } from "vitest";
import { excuseFaults } from "./excuse-faults.ts";
import type { Judge, Oracle, RunEnd, WorldView } from "./oracle.ts";

const view = {} as WorldView;
const endWith = (...faults: readonly object[]): RunEnd => ({ faults }) as unknown as RunEnd;

function rule(name: string): Oracle {
  const judge: Judge = { passed: () => "a write", changed: () => "a change", ended: () => "the end" };
  return { name, judge: () => judge };
}

test("the end of a run is not judged after a fault that excuses it, and all else is", () => {
  const [named, other] = excuseFaults([rule("a"), rule("b")], { a: ({ kind }) => kind === "E1" }).map((each) =>
    each.judge(view),
  );
  expect(named?.ended?.(endWith({ kind: "B2" }, { kind: "E1" }))).toBeUndefined();
  expect(named?.ended?.(endWith({ kind: "B2" }))).toBe("the end");
  expect(other?.ended?.(endWith({ kind: "E1" }))).toBe("the end");
  expect([named?.passed?.({} as never), named?.changed?.({} as never)]).toEqual(["a write", "a change"]);
});

test("a rule that does not exist cannot be excused", () => {
  expect(() => excuseFaults([rule("a")], { b: () => true })).toThrow(
    'Cannot excuse faults of "b": no rule has this name',
  );
});
