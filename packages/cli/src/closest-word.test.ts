import { expect, test } from "vitest";
import { closestWord } from "./closest-word.ts";

const commands = ["up", "run", "manifests", "record"];

test.each([
  ["manifest", "manifests"],
  ["recrod", "record"],
  ["rnu", undefined],
  ["upp", "up"],
  ["fly", undefined],
  ["x", undefined],
])("%s means %s", (given, meant) => {
  expect(closestWord(given, commands)).toBe(meant);
});
