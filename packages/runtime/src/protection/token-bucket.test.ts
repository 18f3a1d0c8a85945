import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

test("permits come back with time, and never more than there were", () => {
  const bucket = new TokenBucket(60_000);
  for (let i = 0; i < 10; i++) expect(bucket.take(10, 0)).toBe(0);
  expect(bucket.take(10, 0)).toBe(6_000);
  expect(bucket.take(10, 6_000)).toBe(0);
  for (let i = 0; i < 10; i++) expect(bucket.take(10, 1_000_000)).toBe(0);
  expect(bucket.take(10, 1_000_000)).toBeGreaterThan(0);
});

test("those that are sent away come back one after the other, and not all for the same permit", () => {
  const bucket = new TokenBucket(60_000);
  for (let i = 0; i < 10; i++) bucket.take(10, 0);
  const waitsMs = Array.from({ length: 20 }, () => bucket.take(10, 0));
  expect(waitsMs.slice(0, 4)).toEqual([6_000, 12_000, 18_000, 24_000]);
  expect(Math.max(...waitsMs)).toBe(60_000);
  expect(waitsMs.slice(0, 9).map((atMs) => bucket.take(10, atMs))).toEqual(Array(9).fill(0));
});
