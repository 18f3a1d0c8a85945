import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { afterEach, expect, test } from "vitest";
import { MvccStorage } from "../mvcc-storage.ts";
import { openSqliteStorage } from "./index.ts";

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "sqlite-"));
  directories.push(directory);
  return directory;
}

const clock = new VirtualClock(seededRandom(1));
const open = (directory: string) => openSqliteStorage({ clock, log: silentLogger, directory });
const thing = (name: string): UnstructuredObject => ({ apiVersion: "v1", kind: "Thing", metadata: { name } });
const key = (path: string) => ({ prefix: "/things", path });

test("what was acknowledged is there after a restart, and revisions go on", async () => {
  const directory = newDirectory();
  {
    await using storage = open(directory);
    const writes = ["a", "b"].map((path) => storage.write(key(path), () => thing(path)));
    const gone = storage.write(key("b"), () => "delete");
    await clock.settle();
    await Promise.all([...writes, gone]);
  }
  await using storage = open(directory);
  expect(storage.revision).toBe(4);
  expect(storage.get(key("a"))?.metadata.resourceVersion).toBe("2");
  expect(storage.get(key("b"))).toBeUndefined();
});

test("an integer beyond 2^53 is the same after a restart", async () => {
  const directory = newDirectory();
  const big = { ...thing("a"), spec: { count: 9007199254740993n } };
  {
    await using storage = open(directory);
    const write = storage.write(key("a"), () => big);
    await clock.settle();
    await write;
  }
  await using storage = open(directory);
  expect(storage.get(key("a"))).toMatchObject({ spec: { count: 9007199254740993n } });
});

test("a write is not seen before it is durable", async () => {
  await using storage = open(newDirectory());
  const seen: string[] = [];
  storage.watch("/things", storage.revision, ({ path }) => seen.push(path));
  const write = storage.write(key("a"), () => thing("a"));
  expect([storage.get(key("a")), storage.revision, seen]).toEqual([undefined, 1, []]);
  await clock.settle();
  await write;
  expect([storage.revision, seen]).toEqual([2, ["a"]]);
});

test("the files of a store are their owner's alone, whatever the umask and the rights of the folder", async () => {
  const directory = newDirectory();
  chmodSync(directory, 0o777);
  const openToOthers = (): readonly string[] =>
    readdirSync(directory).filter((name) => (statSync(join(directory, name)).mode & 0o077) !== 0);
  const umask = process.umask(0);
  try {
    {
      await using storage = open(directory);
      const write = storage.write(key("a"), () => thing("a"));
      await clock.settle();
      await write;
      expect(readdirSync(directory).toSorted()).toEqual(["state.db", "state.db-wal", "state.log", "state.mark"]);
      expect(openToOthers()).toEqual([]);
    }
    // As an older release left them.
    for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o666);
    await using _storage = open(directory);
    expect(openToOthers()).toEqual([]);
  } finally {
    process.umask(umask);
  }
});

test("a second user of the directory is refused in one sentence", async () => {
  const directory = newDirectory();
  await using _storage = open(directory);
  expect(() => open(directory)).toThrow(expect.objectContaining({ code: "ERR_DATA_DIR_IN_USE" }));
});

test("a file that is no database is named", () => {
  const directory = newDirectory();
  writeFileSync(join(directory, "state.db"), "not a database at all, but long enough to be looked at".repeat(20));
  expect(() => open(directory)).toThrow(expect.objectContaining({ code: "ERR_DATA_DIR_CORRUPT" }));
  expect(() => open(directory)).toThrow(/state\.db: it is not a sound database/);
});

test("a store of the layout without checksums is upgraded once, and protected from then on", async () => {
  const directory = newDirectory();
  const database = new DatabaseSync(join(directory, "state.db"));
  database.exec(`
    CREATE TABLE objects (prefix TEXT NOT NULL, path TEXT NOT NULL, revision INTEGER NOT NULL, value TEXT NOT NULL,
      PRIMARY KEY (prefix, path)) WITHOUT ROWID;
    CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL) STRICT;
    INSERT INTO store VALUES (1, 9);
    PRAGMA user_version = 1;
  `);
  database
    .prepare("INSERT INTO objects VALUES ('/things', 'a', 7, ?)")
    .run(JSON.stringify({ ...thing("a"), metadata: { name: "a", resourceVersion: "7" } }));
  database.close();
  copyFileSync(join(directory, "state.db"), join(directory, "old.db"));
  {
    await using storage = open(directory);
    expect([storage.revision, storage.get(key("a"))?.metadata.resourceVersion]).toEqual([9, "7"]);
    const write = storage.write(key("b"), () => thing("b"));
    await clock.settle();
    await write;
  }
  {
    await using storage = open(directory);
    expect([storage.revision, storage.list("/things").objects.length]).toEqual([10, 2]);
  }
  copyFileSync(join(directory, "old.db"), join(directory, "state.db"));
  expect(() => open(directory)).toThrow(/a copy of an older layout at revision 9; the store was at 10/);
});

test("a layout of a newer program is refused", () => {
  const directory = newDirectory();
  const database = new DatabaseSync(join(directory, "state.db"));
  database.exec("PRAGMA user_version = 99");
  database.close();
  expect(() => open(directory)).toThrow(expect.objectContaining({ code: "ERR_DATA_DIR_VERSION" }));
});

test("when the disk refuses a group, none of its writes happened and the next ones go on", async () => {
  let isFull = true;
  const commit = (): void => {
    if (isFull) throw new Error("database or disk is full");
  };
  const journal = { entries: [], revision: 1, commit, close() {} };
  await using storage = new MvccStorage({ clock, log: silentLogger, journal });
  const writes = ["a", "b"].map((path) => storage.write(key(path), () => thing(path)));
  const settled = Promise.allSettled(writes);
  await clock.settle();
  expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(storage.list("/things").objects).toEqual([]);
  expect(storage.writeFailure).toHaveProperty("message", "database or disk is full");
  isFull = false;
  const write = storage.write(key("a"), (current) => (current === undefined ? thing("a") : "keep"));
  await clock.settle();
  expect((await write).changed).toBe(true);
  expect(storage.writeFailure).toBeUndefined();
});

test("kill -9 loses nothing that was acknowledged", async () => {
  const directory = newDirectory();
  const child = spawn(process.execPath, [
    "--conditions=@setpoint/source",
    join(import.meta.dirname, "crash-writer.fixture.ts"),
    directory,
  ]);
  let acknowledged = 0;
  for await (const chunk of child.stdout) {
    const lines = String(chunk).trim().split("\n");
    acknowledged = Math.max(acknowledged, Number(lines.at(-1)));
    if (acknowledged > 200) break;
  }
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  await using storage = open(directory);
  for (let i = 1; i <= acknowledged; i++) expect(storage.get(key(`n${i}`)), `n${i}`).toBeDefined();
  expect(readdirSync(directory)).toContain("state.db");
});
