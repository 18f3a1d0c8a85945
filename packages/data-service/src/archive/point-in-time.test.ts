/** An archive beside a backup, and restores from both, compared by content. */
import { expect, test } from "vitest";
import type { EncryptionKey } from "../format/encryption-key.ts";
import type { TimelineFork } from "../engine/log.ts";
import { targetRefusal, type RestoreTarget } from "../engine/target.ts";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { AppendLog, log, replay, target as appendTargets } from "./append-log.fixture.ts";
import { type Archive, type ArchiveGap, type BaseBackup, gapsOf, wayTo } from "./archive-window.ts";
import { filePath, logAmong, type ArchivedSegment } from "./archived-file.ts";
import { archiveSegment, type LogArchive, readArchived } from "./log-archive.ts";

const { signal } = new AbortController();
const { compare } = log;
const minute = (count: number): string => new Date(count * 60_000).toISOString();
const texts = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => `entry ${from + at}`);

const fork = (at: string): TimelineFork => ({ timeline: 2, parent: 1, at });

interface Stage {
  readonly store: AppendLog;
  readonly storage: MemoryStorage;
  readonly archive: LogArchive;
  readonly base: BaseBackup;
}

async function archiveAll(store: AppendLog, archive: LogArchive): Promise<void> {
  for (const [name, bytes] of store.fullSegments()) await archiveSegment(archive, name, bytes, signal);
}

function archiveIn(storage: MemoryStorage, activeKey?: string): LogArchive {
  const keyNamed = (name: string): EncryptionKey => ({ name, bytes: Buffer.alloc(32, name) });
  return { storage, folder: "orders", log, activeKey, keyNamed };
}

async function segmentsOf({ storage, folder }: LogArchive): Promise<readonly ArchivedSegment[]> {
  return logAmong(await storage.list(folder, signal), folder).segments;
}

async function remove({ archive, storage }: Stage, name: string): Promise<void> {
  for (const segment of await segmentsOf(archive))
    if (segment.name === name) storage.objects.delete(filePath(archive.folder, segment));
}

/** Eight entries, a backup after six, and a log of twenty. */
async function setUp(): Promise<Stage> {
  const storage = new MemoryStorage();
  const archive = archiveIn(storage);
  const store = new AppendLog();
  store.append(...texts(0, 6));
  const base = { name: "first", timeline: 1, start: "6", position: "6", takenAtMs: 5 * 60_000 };
  store.append(...texts(6, 12), "mark before the change", ...texts(13, 20));
  await archiveAll(store, archive);
  return { store, storage, archive, base };
}

async function archiveOf({ archive, base, store }: Stage): Promise<Archive> {
  return { bases: [base], segments: await segmentsOf(archive), forks: store.forks };
}

async function restore(stage: Stage, wanted?: RestoreTarget): Promise<readonly string[] | string> {
  const way = wayTo(wanted, await archiveOf(stage), compare);
  if ("refusal" in way) return way.refusal;
  const bytes = await Promise.all(way.segments.map((segment) => readArchived(stage.archive, segment, signal)));
  return replay(stage.store.entries.slice(0, 6), bytes, way.end, wanted);
}

test.each<[RestoreTarget | undefined, number]>([
  [{ kind: "time", value: minute(10) }, 11],
  [{ kind: "position", value: "15" }, 15],
  [{ kind: "name", value: "before the change" }, 13],
  [undefined, 20],
])("a restore to %j has exactly the entries up to it", async (wanted, count) => {
  const stage = await setUp();
  expect(await restore(stage, wanted)).toEqual(stage.store.entries.slice(0, count).map(({ text }) => text));
});

test("a gap is named, ends the window, and a target behind it is refused with both", async () => {
  const stage = await setUp();
  await remove(stage, "1-000012");
  expect(gapsOf(await archiveOf(stage), compare)).toEqual([{ timeline: 1, from: "12", to: "16" }]);
  expect(await restore(stage)).toHaveLength(12);
  expect(await restore(stage, { kind: "position", value: "18" })).toMatch(
    /"18" is outside of what can be restored: .* \(position 12\); the archive lacks 12 to 16 of timeline 1/,
  );
});

test("a target before the end of the backup is refused: recovery would stop later, and not say so", async () => {
  expect(await restore(await setUp(), { kind: "time", value: minute(2) })).toContain("outside of what can be restored");
  expect(await restore(await setUp(), { kind: "position", value: "3" })).toContain("outside of what can be restored");
});

test("after a promotion the archive follows the new history, and what only the old primary had is not in it", async () => {
  const stage = await setUp();
  const promoted = stage.store.promoted(14);
  promoted.append("after the promotion", ...texts(15, 18));
  await archiveAll(promoted, stage.archive);
  const restored = await restore({ ...stage, store: promoted });
  expect(restored).toEqual(promoted.entries.map(({ text }) => text));
  expect(await restore({ ...stage, store: promoted }, { kind: "position", value: "16", timeline: 1 })).toEqual(
    stage.store.entries.slice(0, 16).map(({ text }) => text),
  );
});

test("a segment of the old history that begins at the fork is not replayed, and a gap before the fork ends the window", async () => {
  const stage = await setUp();
  const promoted = stage.store.promoted(12);
  promoted.append(...texts(12, 16));
  await archiveAll(promoted, stage.archive);
  const names = async (): Promise<unknown> => {
    const way = wayTo(undefined, await archiveOf({ ...stage, store: promoted }), compare);
    return "refusal" in way ? way.refusal : way.segments.map(({ name }) => name);
  };
  expect(await names()).toEqual(["1-000004", "1-000008", "2-000012"]);
  await remove(stage, "1-000008");
  expect(await names()).toEqual(["1-000004"]);
});

test.each<[string, TimelineFork, readonly [number, string, string][], readonly ArchiveGap[]]>([
  [
    "its first segment repeats the end of the parent",
    fork("14"),
    [
      [1, "8", "12"],
      [2, "12", "16"],
    ],
    [],
  ],
  [
    "its first segment is missing",
    fork("14"),
    [
      [1, "8", "12"],
      [2, "16", "20"],
    ],
    [
      { timeline: 1, from: "12", to: "14" },
      { timeline: 2, from: "14", to: "16" },
    ],
  ],
  [
    "it begins where the parent has more",
    fork("10"),
    [
      [1, "8", "12"],
      [2, "12", "16"],
    ],
    [{ timeline: 2, from: "10", to: "12" }],
  ],
  ["the parent is in another archive", fork("14"), [[2, "12", "16"]], []],
])("the gaps of a timeline when %s", (_, begun, parts, gaps) => {
  const segments = parts.map(([timeline, start, end]) => ({
    ...{ timeline, start, end },
    endedAtMs: 0,
    name: "",
    sha256: "",
  }));
  expect(gapsOf({ segments, forks: [begun] }, compare)).toEqual(gaps);
});

test("a backup whose data changed while they were copied needs the log up to its end", async () => {
  const stage = await setUp();
  // It was copied from position 6 on, and has parts of what was written up to 10.
  const copied = { ...stage, base: { ...stage.base, position: "10" } };
  expect(wayTo({ kind: "position", value: "10" }, await archiveOf(copied), compare)).toMatchObject({ end: "20" });
  expect(wayTo({ kind: "position", value: "8" }, await archiveOf(copied), compare)).toHaveProperty("refusal");
  await remove(copied, "1-000008");
  expect(wayTo(undefined, await archiveOf(copied), compare)).toEqual({
    refusal: "no verified backup leads into the history of timeline 1; the archive lacks 8 to 12 of timeline 1",
  });
});

test("the same segment again succeeds; another one under its name is refused, and the first stays", async () => {
  const { archive, storage } = await setUp();
  const [path = ""] = [...storage.objects.keys()];
  const bytes = await storage.read(path, 1_000, signal);
  const [{ name } = { name: "" }] = await segmentsOf(archive);
  expect(await archiveSegment(archive, name, bytes, signal)).toBe("present");
  const other = Buffer.from(Buffer.from(bytes).toString("utf8").replace("entry 0", "entry x"));
  await expect(archiveSegment(archive, name, other, signal)).rejects.toThrow("has other bytes under this name");
  expect(storage.objects.get(path)).toEqual(Uint8Array.from(bytes));
  await expect(archiveSegment(archive, "notes", bytes, signal)).rejects.toThrow("is no segment");
});

test.each<[RestoreTarget, string | undefined]>([
  [{ kind: "position", value: "12" }, undefined],
  [{ kind: "position", value: "0/12" }, "no position: expected a whole number"],
  [{ kind: "time", value: "yesterday" }, '"yesterday" is no time'],
  [{ kind: "transaction", value: "7" }, "use one of time, position, name"],
])("a target is checked before anything is touched: %j", (wanted, refusal) => {
  const found = targetRefusal(wanted, appendTargets);
  if (refusal === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(refusal);
  expect(targetRefusal(wanted, undefined)).toContain("whole backups only");
});
