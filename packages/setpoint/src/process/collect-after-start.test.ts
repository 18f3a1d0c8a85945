import { expect, test } from "vitest";
import { collectAfterStart } from "./collect-after-start.ts";

const mebibyte = 1024 * 1024;

test.each([
  ["a small heap is collected once", 10, 1],
  ["a heap with large caches is left to V8, which collects it piece by piece", 30, 0],
])("%s", (_claim, mebibytes, times) => {
  const asked: unknown[] = [];
  const gc = (options?: unknown): never => asked.push(options) as never;
  collectAfterStart(gc, () => mebibytes * mebibyte);
  expect(asked).toEqual(Array.from({ length: times }, () => ({ type: "major", flavor: "last-resort" })));
});

test("without --expose-gc nothing happens, not even a look at the heap", () => {
  let looks = 0;
  collectAfterStart(undefined, () => ++looks);
  expect(looks).toBe(globalThis.gc === undefined ? 0 : 1);
});
