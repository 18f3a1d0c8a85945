import type { UnstructuredObject } from "@setpoint/apimachinery";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { HistoryLimits } from "./limits.ts";
import { createMemoryStorage } from "./memory-storage.ts";

const key = (path: string) => ({ prefix: "/things", path });
const thing = (name: string, length: number): UnstructuredObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  data: { text: "x".repeat(length) },
});
const open = (limits: Partial<HistoryLimits>) =>
  createMemoryStorage({ clock: new VirtualClock(seededRandom(1)), log: silentLogger }, limits);

test("the history is bounded by the bytes of its objects, and the newest event stays", async () => {
  const storage = open({ historyBytesMax: 100_000 });
  for (let i = 0; i < 50; i++) {
    await storage.write(key("a"), () => thing("a", 9_000));
    expect(storage.use().historyBytes).toBeLessThanOrEqual(100_000);
  }
  expect(storage.compactedRevision).toBeGreaterThan(storage.revision - 12);
  await storage.write(key("b"), () => thing("b", 500_000));
  const seen: string[] = [];
  storage.watch("/things", storage.revision - 1, ({ path }) => seen.push(path));
  expect(seen).toEqual(["b"]);
});

test("deleted objects count in the history", async () => {
  const storage = open({ historyBytesMax: 1_000_000 });
  await storage.write(key("a"), () => thing("a", 9_000));
  await storage.write(key("a"), () => "delete");
  expect(storage.use()).toEqual({ storedBytes: 0, historyBytes: expect.closeTo(18_500, -3) });
});

test("a store that is full refuses what adds, and takes what shrinks, small changes and deletions", async () => {
  const storage = open({ storedBytesMax: 100_000 });
  const write = (path: string, length: number) => storage.write(key(path), () => thing(path, length));
  for (let i = 0; i < 9; i++) await write(`n${i}`, 10_000);
  const full = "etcdserver: mvcc: database space exceeded";
  await expect(write("one-more", 10_000)).rejects.toThrow(full);
  await expect(write("n0", 21_000)).rejects.toThrow(full);
  expect((await write("n0", 10_100)).changed).toBe(true);
  expect((await write("n1", 100)).changed).toBe(true);
  expect((await storage.write(key("n2"), () => "delete")).changed).toBe(true);
  expect((await write("one-more", 10_000)).changed).toBe(true);
  expect(storage.use().storedBytes).toBeLessThanOrEqual(100_000);
});

test("small growth has a reserve beyond the budget, and not more", async () => {
  const storage = open({ storedBytesMax: 100_000 });
  await storage.write(key("a"), () => thing("a", 99_000));
  const refusals: number[] = [];
  for (let i = 0; i < 40; i++) {
    await storage.write(key(`n${i}`), () => thing(`n${i}`, 100)).catch(() => refusals.push(i));
  }
  expect(refusals.length).toBeGreaterThan(5);
  expect(storage.use().storedBytes).toBeGreaterThan(100_000);
  expect(storage.use().storedBytes).toBeLessThanOrEqual(105_000);
});

test("a storage without byte limits counts nothing", async () => {
  const storage = open({});
  await storage.write(key("a"), () => thing("a", 9_000));
  expect(storage.use()).toEqual({ storedBytes: 0, historyBytes: 0 });
});
