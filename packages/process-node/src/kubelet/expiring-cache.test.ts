import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { ExpiringCache } from "./expiring-cache.ts";

function world() {
  const clock = new VirtualClock(seededRandom(1));
  const cache = new ExpiringCache<number>({ clock, ttlMs: 1_000, entriesMax: 3 });
  let asked = 0;
  const ask = async (): Promise<number> => ++asked;
  return { clock, cache, ask };
}

test("an answer is kept for its time and asked for again after it", async () => {
  const { clock, cache, ask } = world();
  expect(await cache.get("a", ask)).toBe(1);
  expect(await cache.get("a", ask)).toBe(1);
  await clock.run(1_001);
  expect(await cache.get("a", ask)).toBe(2);
});

test("it never holds more entries than it may", async () => {
  const { cache, ask } = world();
  for (let i = 0; i < 100; i++) await cache.get(String(i), ask);
  expect(cache.size).toBe(3);
  expect(await cache.get("99", ask)).toBe(100);
});

test("a question that fails is asked again", async () => {
  const { cache, ask } = world();
  await expect(cache.get("a", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await cache.get("a", ask)).toBe(1);
});
