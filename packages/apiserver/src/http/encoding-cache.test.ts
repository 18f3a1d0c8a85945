import { expect, test } from "vitest";
import { EncodingCache } from "./encoding-cache.ts";

const object = (name: string): object => Object.freeze({ name, text: "x".repeat(100) });
const encoded = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

test("encodings of frozen objects are kept, and never more than the bytes that are allowed", () => {
  const cache = new EncodingCache(1_000);
  const [first, ...others] = Array.from({ length: 20 }, (_, i) => object(`n${i}`));
  const bytes = cache.keep(first, "a", encoded(first));
  expect(cache.find(first, "a")).toBe(bytes);
  expect(cache.find(first, "b")).toBeUndefined();
  for (const other of others) cache.keep(other, "a", encoded(other));
  expect(cache.bytes).toBeGreaterThan(500);
  expect(cache.bytes).toBeLessThanOrEqual(1_000);
  expect(cache.find(first, "a")).toBeUndefined();
});

test("the encoding of what can change is not kept", () => {
  const cache = new EncodingCache(1_000);
  const open = { text: "x" };
  cache.keep(open, "", encoded(open));
  expect([cache.find(open, ""), cache.bytes]).toEqual([undefined, 0]);
});
