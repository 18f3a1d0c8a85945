/** The conformance suite of storages; each implementation passes the same claims. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { afterEach, describe, expect, test } from "vitest";
import { openSqliteStorage } from "./sqlite/index.ts";
import type { HistoryLimits } from "./limits.ts";
import { createMemoryStorage } from "./memory-storage.ts";
import type { Storage, StorageEvent } from "./storage.ts";

const directories: string[] = [];
const opened: Storage[] = [];

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage[Symbol.asyncDispose]();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

interface World {
  readonly storage: Storage;
  readonly clock: VirtualClock;
}

const implementations: Record<string, (limits?: Partial<HistoryLimits>) => World> = {
  memory(limits) {
    const clock = new VirtualClock(seededRandom(1));
    return { clock, storage: createMemoryStorage({ clock, log: silentLogger }, limits) };
  },
  sqlite(limits = {}) {
    const clock = new VirtualClock(seededRandom(1));
    const directory = mkdtempSync(join(tmpdir(), "storage-"));
    directories.push(directory);
    return { clock, storage: openSqliteStorage({ clock, log: silentLogger, directory, limits }) };
  },
};

const object = (name: string, data = ""): UnstructuredObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  data,
});
const key = (path: string, prefix = "/things") => ({ prefix, path });
const namesIn = (objects: readonly UnstructuredObject[]) => objects.map(({ metadata }) => metadata.name);

describe.each(Object.entries(implementations))("a storage in %s", (_, open) => {
  function start(limits?: Partial<HistoryLimits>) {
    const { storage, clock } = open(limits);
    opened.push(storage);
    const put = async (path: string, data = "") => {
      const written = storage.write(key(path), () => object(path, data));
      await clock.settle();
      return written;
    };
    const remove = async (path: string) => {
      const written = storage.write(key(path), () => "delete");
      await clock.settle();
      return written;
    };
    return { storage, clock, put, remove };
  }

  test("gives each write the next revision and keeps it in the object", async () => {
    const { put, remove, storage } = start();
    expect((await put("a")).object?.metadata.resourceVersion).toBe("2");
    expect((await put("a", "x")).object?.metadata.resourceVersion).toBe("3");
    const deleted = await remove("a");
    expect(deleted.object).toMatchObject({ data: "x", metadata: { resourceVersion: "4" } });
    expect(storage.get(key("a"))).toBeUndefined();
    expect(storage.revision).toBe(4);
  });

  test("lists in the order of paths, also at an earlier revision", async () => {
    const { put, remove, storage } = start();
    for (const path of ["b/2", "a/1", "b/1"]) await put(path);
    const { revision } = storage;
    await remove("b/1");
    await put("b/0");
    expect(namesIn(storage.list("/things").objects)).toEqual(["a/1", "b/0", "b/2"]);
    expect(namesIn(storage.list("/things", { pathPrefix: "b/" }).objects)).toEqual(["b/0", "b/2"]);
    expect(namesIn(storage.list("/things", { revision }).objects)).toEqual(["a/1", "b/1", "b/2"]);
    expect(namesIn(storage.list("/things", { revision, pathPrefix: "b/" }).objects)).toEqual(["b/1", "b/2"]);
  });

  test("tells a watch everything after its revision, once and in order", async () => {
    const { put, remove, storage } = start();
    await put("a");
    await put("b");
    const events: StorageEvent[] = [];
    const watch = storage.watch("/things", 2, (event) => events.push(event));
    await put("a", "x");
    await remove("b");
    watch.cancel();
    await put("c");
    expect(events.map(({ kind, path, revision }) => `${kind} ${path} ${revision}`)).toEqual([
      "put b 3",
      "put a 4",
      "delete b 5",
    ]);
    expect(events[1]?.previous).toMatchObject({ data: "" });
  });

  test("tells progress for writes elsewhere", async () => {
    const { put, storage } = start();
    const seen: number[] = [];
    storage.watch(
      "/others",
      storage.revision,
      () => {},
      (revision) => seen.push(revision),
    );
    await put("a");
    expect(seen).toEqual([2]);
  });

  test("writes nothing when the decision throws or keeps", async () => {
    const { storage, clock } = start();
    const refused = storage.write(key("a"), () => {
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow("no");
    const kept = storage.write(key("a"), () => "keep");
    await clock.settle();
    expect(await kept).toEqual({ object: undefined, changed: false });
    expect(storage.revision).toBe(1);
  });

  test("decides each write on the one before, also within one turn", async () => {
    const { storage, clock } = start();
    const writes = [1, 2, 3].map(() =>
      storage.write(key("n"), (current) => object("n", `${String(current?.["data"] ?? "")}x`)),
    );
    await clock.settle();
    await Promise.all(writes);
    expect(storage.get(key("n"))?.["data"]).toBe("xxx");
  });

  test("refuses revisions that were compacted, and keeps the newest readable", async () => {
    const { put, storage } = start();
    await put("a");
    await put("b");
    storage.compact(storage.revision);
    const compacted = expect.objectContaining({ code: "ERR_COMPACTED" });
    expect(() => storage.list("/things", { revision: 2 })).toThrow(compacted);
    expect(() => storage.watch("/things", 2, () => {})).toThrow(compacted);
    expect(namesIn(storage.list("/things", { revision: storage.revision }).objects)).toEqual(["a", "b"]);
  });

  test("bounds its history by count and by age", async () => {
    const { put, storage, clock } = start({ historyEventsMax: 32, historyAgeMsMax: 1_000 });
    for (let i = 0; i < 40; i++) await put("a", String(i));
    expect(storage.compactedRevision).toBeGreaterThan(5);
    expect(storage.compactedRevision).toBeLessThan(storage.revision - 16);
    await clock.run(5_000);
    await put("b");
    expect(storage.compactedRevision).toBeGreaterThanOrEqual(storage.revision - 3);
  });

  test("hands out objects that nobody can change", async () => {
    const { put } = start();
    const { object: stored } = await put("a");
    expect(Object.isFrozen(stored)).toBe(true);
    expect(Object.isFrozen(stored?.metadata)).toBe(true);
  });
});
