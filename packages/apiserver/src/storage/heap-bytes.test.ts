import { expect, test } from "vitest";
import { heapBytesOf } from "./heap-bytes.ts";

test("the size of a value is that of its strings, and grows with its parts", () => {
  expect(heapBytesOf({ a: "x".repeat(10_000) })).toBeCloseTo(10_000, -3);
  expect(heapBytesOf({ a: `${"x".repeat(9_999)}€` })).toBeCloseTo(20_000, -3);
  expect(heapBytesOf(Array.from({ length: 1_000 }, () => 1))).toBeGreaterThan(8_000);
  expect(heapBytesOf(undefined)).toBe(0);
});
