import { expect, test } from "vitest";
import { judgeLosses } from "./declared-losses.ts";

const lost = { kind: "lost append", message: "", value: 7 } as const;
const judge = (position: string, ...declarations: readonly string[]): readonly [number, number] => {
  const { declared, undeclared } = judgeLosses([lost], new Map([[7, position]]), declarations);
  return [declared, undeclared.length];
};

test.each([
  ["later than the last report", "0/200", ["what a-1 committed after 0/1FF"], [1, 0]],
  ["before the last report", "0/1FF", ["what a-1 committed after 0/1FF"], [0, 1]],
  ["among the bytes that are missing", "0/1FF", ["16 bytes of the log, and what a-1 committed after 0/200"], [1, 0]],
  ["before the bytes that are missing", "0/1F0", ["16 bytes of the log, and what a-1 committed after 0/200"], [0, 1]],
  ["on a later file of the log", "1/0", ["what a-1 committed after 0/FFFFFFFF"], [1, 0]],
  ["without a report", "0/1", ["what a-1 committed after its last report"], [1, 0]],
  ["by one of two failovers", "0/200", ["what a-1 committed after 0/300", "what a-2 committed after 0/1FF"], [1, 0]],
  ["without a declaration", "0/200", [], [0, 1]],
] as const)("a loss %s", (_, position, declarations, expected) => {
  expect(judge(position, ...declarations)).toEqual(expected);
});

test("what is no loss is not judged", () => {
  const skew = { kind: "G2", message: "" } as const;
  expect(judgeLosses([skew], new Map(), [])).toEqual({ declared: 0, undeclared: [] });
});
