import { expect, test } from "vitest";
import { formatIndexes, parseIndexes } from "./indexes.ts";

test.each([
  ["", []],
  ["1", [1]],
  ["1,2", [1, 2]],
  ["0,3-5,7", [0, 3, 4, 5, 7]],
])("indexes %j are read and written", (text, indexes) => {
  expect([...parseIndexes(text)]).toEqual(indexes);
  expect(formatIndexes(new Set(indexes.toReversed()))).toBe(text);
});
