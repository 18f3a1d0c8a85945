import { expect, test } from "vitest";
import { collectAfterStart } from "./collect-after-start.ts";

const mebibyte = 1024 * 1024;

test.each([
  ["a small heap is collected once", 10, 1],
  ["a heap with large caches is left to V8, which collects it piece by piece", 30, 0],
])("%s", (_claim, mebibytes, times) => {
  const asked: unknown[] = [];
  const gc = (options?: unknown): never => asked.push(options) as never;
  collectAfterStart(
    () => mebibytes * mebibyte,
    () => gc,
  );
  expect(asked).toEqual(Array.from({ length: times }, () => ({ type: "major", flavor: "last-resort" })));
});

test("without --expose-gc it is done all the same, and later contexts do not get the function", async () => {
  let garbage: object | undefined = {};
  const kept = new WeakRef(garbage);
  garbage = undefined;
  // What a WeakRef was asked for lives until the turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collectAfterStart(() => 0);
  expect(kept.deref()).toBeUndefined();
  expect(process.getBuiltinModule("node:vm").runInNewContext("typeof gc")).toBe("undefined");
});
