/** What a server reports of its archive. */
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { TransferError } from "../engine/transfer-error.ts";
import { encodeManifest } from "../format/manifest.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { AppendLog, log } from "./append-log.fixture.ts";
import { archivedCondition } from "./archive-condition.ts";
import { LogArchiver } from "./log-archiver.ts";

const { signal } = new AbortController();
const digest = "0".repeat(64);
const minute = (count: number): string => new Date(count * 60_000).toISOString();

/** A backup at the position, of the minute with the same number. */
function putBase(storage: MemoryStorage, name: string, position: number): void {
  const backup = {
    ...{
      format: 1 as const,
      engine: "sample",
      engineVersion: "1",
      position: String(position),
      takenAt: minute(position),
    },
    ...{ dataBytes: 1, storedBytes: 1, sha256: digest, storedSha256: digest },
    log: { timeline: 1, start: String(position), endedAtMs: position * 60_000 },
  };
  const object = `orders/${name}`;
  storage.objects.set(`${object}.json`, encodeManifest({ backup, object, parts: 1 }, undefined));
}

function setUp() {
  const storage = new MemoryStorage();
  const store = new AppendLog();
  store.append(...Array.from({ length: 20 }, (_, at) => `entry ${at}`));
  const keyNamed = (): never => {
    throw new TransferError("KeyMissing", "no key");
  };
  const archive = { storage, folder: "orders", log, activeKey: undefined, keyNamed };
  return { storage, store, archiver: new LogArchiver(archive, simulatedHost(1).clock) };
}

test("the window leads from the earliest backup to the end of the log", async () => {
  const { storage, store, archiver } = setUp();
  for (const [name, bytes] of store.fullSegments()) await archiver.archive(name, bytes, signal);
  putBase(storage, "a", 5);
  putBase(storage, "b", 9);
  const report = await archiver.report(signal);
  expect(report).toMatchObject({
    window: { from: minute(5), to: minute(19), end: "20", timeline: 1 },
    lastArchived: { name: "1-000016" },
  });
  expect(report.gaps).toBeUndefined();
  expect(archivedCondition(report)).toMatchObject({ status: "True" });
});

test("a gap is named, and the window begins at the first backup behind it", async () => {
  const { storage, store, archiver } = setUp();
  for (const [name, bytes] of store.fullSegments())
    if (name !== "1-000008") await archiver.archive(name, bytes, signal);
  putBase(storage, "a", 5);
  const gaps = { gaps: [{ timeline: 1, from: "8", to: "12" }], gapCount: 1 };
  const before = await archiver.report(signal);
  expect(before).toMatchObject({ ...gaps, window: { from: minute(5), to: minute(7), end: "8", complete: false } });
  expect(archivedCondition(before)).toMatchObject({ status: "False", reason: "GapFound" });
  putBase(storage, "b", 13);
  const report = await archiver.report(signal);
  expect(report).toMatchObject({ ...gaps, window: { from: minute(13), to: minute(19), end: "20", complete: true } });
  expect(archivedCondition(report)).toMatchObject({ status: "True" });
  expect(archivedCondition(report).message).toContain("the archive lacks 8 to 12 of timeline 1");
});

test("a report of an archive that has nothing is no empty object, which a server would not take", async () => {
  expect(await setUp().archiver.report(signal)).toEqual({ gapCount: 0 });
});

test("a store that fails is reported with the time of its first failure, until a segment is stored", async () => {
  const { storage, store, archiver } = setUp();
  const [[name, bytes] = ["", new Uint8Array()] as const] = [...store.fullSegments()];
  const write = storage.write.bind(storage);
  storage.write = () => Promise.reject(new TransferError("StoreFull", "The store is full."));
  for (const _ of [1, 2]) await expect(archiver.archive(name, bytes, signal)).rejects.toThrow("The store is full.");
  const { failing } = await archiver.report(signal);
  expect(failing).toEqual({ since: "2026-01-01T00:00:00.000Z", message: "The store is full." });
  expect(archivedCondition({ failing, gapCount: 0 })).toMatchObject({ status: "False", reason: "ArchivingFails" });
  storage.write = write;
  await archiver.archive(name, bytes, signal);
  expect((await archiver.report(signal)).failing).toBeUndefined();
});

test("the first ten of many gaps are reported, and how many there are", async () => {
  const { store, archiver } = setUp();
  store.append(...Array.from({ length: 80 }, (_, at) => `entry ${at + 20}`));
  const segments = [...store.fullSegments()];
  for (const [at, [name, bytes]] of segments.entries()) if (at % 2 === 0) await archiver.archive(name, bytes, signal);
  const { gaps, gapCount } = await archiver.report(signal);
  expect([gaps?.length, gapCount]).toEqual([10, 12]);
});
