import { expect, test } from "vitest";
import { RecentMap } from "./recent-map.ts";

test("a recent map knows what was remembered last, and not more than a few hundred names", () => {
  const map = new RecentMap<number>();
  for (let index = 0; index < 1000; index++) expect(map.remember(`name-${index}`, index)).toBe(index);
  expect(map.get("name-999")).toBe(999);
  const known = Array.from({ length: 1000 }, (_, index) => map.get(`name-${index}`)).filter((one) => one !== undefined);
  expect(known.length).toBeLessThanOrEqual(256);
});

test("a recent map keeps no long texts", () => {
  const map = new RecentMap<number>();
  expect(map.remember("x".repeat(1000), 1)).toBe(1);
  expect(map.get("x".repeat(1000))).toBeUndefined();
});
