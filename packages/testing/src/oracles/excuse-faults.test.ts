import { expect, test } from "vitest";
import { excuseFaults } from "./excuse-faults.ts";
import type { Judge, Oracle, WorldView } from "./oracle.ts";

const viewOf = (...faults: readonly object[]): WorldView => ({ faults }) as unknown as WorldView;

function rule(name: string): Oracle {
  const judge: Judge = { passed: () => "a write", changed: () => "a change", ended: () => "the end" };
  return { name, judge: () => judge };
}

const said = (judge: Judge | undefined): readonly unknown[] => [
  judge?.passed?.({} as never),
  judge?.changed?.({} as never),
  judge?.ended?.({} as never),
];
const all = ["a write", "a change", "the end"];

test("a run with a fault that excuses it is not judged, and all else is", () => {
  const [named, other] = excuseFaults([rule("a"), rule("b")], { a: ({ kind }) => kind === "E1" });
  const excused = viewOf({ kind: "B2" }, { kind: "E1" });
  expect(said(named?.judge(excused))).toEqual([undefined, undefined, undefined]);
  expect(said(named?.judge(viewOf({ kind: "B2" })))).toEqual(all);
  expect(said(other?.judge(excused))).toEqual(all);
});

test("a rule that does not exist cannot be excused", () => {
  expect(() => excuseFaults([rule("a")], { b: () => true })).toThrow(
    'Cannot excuse faults of "b": no rule has this name',
  );
});
