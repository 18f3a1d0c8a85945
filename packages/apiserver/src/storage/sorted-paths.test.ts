import { expect, test } from "vitest";
import { SortedPaths } from "./sorted-paths.ts";

function pathsOf(...changes: readonly string[]): readonly string[] {
  const paths = new SortedPaths();
  for (const change of changes) {
    if (change === "look") paths.all();
    else if (change.startsWith("-")) paths.remove(change.slice(1));
    else paths.add(change);
  }
  return paths.all();
}

test.each([
  ["in order", ["a", "b", "c"]],
  ["backwards", ["c", "b", "a"]],
  ["one between others", ["a", "c", "b"]],
  ["at the end after one between others", ["b", "a", "c"]],
  ["the last again before anybody looked", ["a", "b", "c", "-c", "c"]],
  ["the last again", ["a", "b", "c", "look", "-c", "look", "c"]],
  ["behind one that is removed", ["a", "b", "d", "look", "-d", "c"]],
  ["one that is removed, behind a new last one", ["a", "c", "look", "-c", "b", "look", "c"]],
])("SortedPaths are in order after paths were added %s", (_, changes) => {
  expect(pathsOf(...changes)).toEqual(["a", "b", "c"]);
});

test("SortedPaths.startingWith() finds what was appended", () => {
  const paths = new SortedPaths();
  for (const path of ["a/1", "b/1", "b/2", "c/1"]) paths.add(path);
  expect(paths.startingWith("b/")).toEqual(["b/1", "b/2"]);
});
