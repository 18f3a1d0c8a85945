import { expect, test } from "vitest";
import { noSilence, noteSilence } from "./silence.ts";

test("a problem counts from the first observation that shows it, and again when it comes back", () => {
  const first = noteSilence(noSilence, ["silent a"], 10);
  expect(noteSilence(first, ["silent a", "failed b"], 20)).toEqual(
    new Map([
      ["silent a", 10],
      ["failed b", 20],
    ]),
  );
  expect(noteSilence(noteSilence(first, [], 20), ["silent a"], 30).get("silent a")).toBe(30);
});
