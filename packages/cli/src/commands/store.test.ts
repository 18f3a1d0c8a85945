import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteStorage } from "@setpoint/apiserver/sqlite";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { afterEach, expect, test } from "vitest";
import { setpoint } from "../setpoint.fixture.ts";

const clock = new VirtualClock(seededRandom(1));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const open = (directory: string) =>
  openSqliteStorage({ clock, log: silentLogger, directory: join(directory, "store") });

/** A data directory with objects n1 to n5 at revisions 2 to 6. */
async function dataDirectory(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "store-"));
  folders.push(directory);
  await using storage = open(directory);
  for (let i = 1; i <= 5; i++) {
    const name = `n${i}`;
    const object = { apiVersion: "v1", kind: "Thing", metadata: { name } };
    const write = storage.write({ prefix: "/things", path: name }, () => object);
    await clock.settle();
    await write;
  }
  return directory;
}

function changeValue(directory: string, path: string): void {
  const database = new DatabaseSync(join(directory, "store", "state.db"));
  database.prepare("UPDATE objects SET value = replace(value, 'Thing', 'Thong') WHERE path = ?").run(path);
  database.close();
}

async function contents(directory: string): Promise<{ readonly names: readonly unknown[]; readonly revision: number }> {
  await using storage = open(directory);
  const { objects } = storage.list("/things");
  expect(objects.every(({ kind }) => kind === "Thing")).toBe(true);
  expect(() => storage.watch("/things", storage.revision - 1, () => {})).toThrow(
    expect.objectContaining({ code: "ERR_COMPACTED" }),
  );
  return { names: objects.map(({ metadata }) => metadata.name), revision: storage.revision };
}

const all = ["n1", "n2", "n3", "n4", "n5"];

test("a sound store is sound, and a repair leaves it as it is", async () => {
  const directory = await dataDirectory();
  const { code, out } = await setpoint("store", "check", "--data-dir", directory);
  expect([code, out]).toEqual([0, `The store in "${join(directory, "store")}" is sound: 5 objects, revision 6\n`]);
  expect((await setpoint("store", "repair", "--data-dir", directory)).code).toBe(0);
  expect(await contents(directory)).toEqual({ names: all, revision: 6 });
});

test("a changed value is named by check, and repaired from the copy of recent writes", async () => {
  const directory = await dataDirectory();
  changeValue(directory, "n3");
  const { code, out } = await setpoint("store", "check", "--data-dir", directory);
  expect([code, out.split("\n")[0]]).toEqual([1, "/things/n3: the value at revision 4 does not match its checksum"]);
  const repaired = await setpoint("store", "repair", "--data-dir", directory);
  expect([repaired.code, repaired.out]).toEqual([
    0,
    expect.stringContaining("Repaired without a loss: 5 objects, revision 6"),
  ]);
  expect(await contents(directory)).toEqual({ names: all, revision: 6 });
});

test("a loss needs an explicit yes, and no revision is given twice after it", async () => {
  const directory = await dataDirectory();
  changeValue(directory, "n3");
  rmSync(join(directory, "store", "state.log"));
  const refused = await setpoint("store", "repair", "--data-dir", directory);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("/things/n3: the value at revision 4 does not match its checksum");
  expect(refused.err).toContain("--accept-loss");
  const accepted = await setpoint("store", "repair", "--accept-loss", "--data-dir", directory);
  expect([accepted.code, accepted.out]).toEqual([0, expect.stringContaining("Continued without what is listed above")]);
  expect(await contents(directory)).toEqual({ names: ["n1", "n2", "n4", "n5"], revision: 1_000_000_006 });
});

test("a backup brings the store back, above every revision that was known", async () => {
  const directory = await dataDirectory();
  const file = join(directory, "backup.db");
  expect((await setpoint("store", "backup", file, "--data-dir", directory)).out).toContain("5 objects at revision 6");
  {
    await using storage = open(directory);
    const gone = storage.write({ prefix: "/things", path: "n1" }, () => "delete");
    await clock.settle();
    await gone;
  }
  const refused = await setpoint("store", "restore", file, "--data-dir", directory);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("--replace puts the backup in its place")]);
  expect((await setpoint("store", "restore", file, "--replace", "--data-dir", directory)).code).toBe(0);
  expect(await contents(directory)).toEqual({ names: all, revision: 1_000_000_007 });
});

test("a store whose files are all lost but one is restored from the backup, also into an empty directory", async () => {
  const directory = await dataDirectory();
  const file = join(directory, "backup.db");
  await setpoint("store", "backup", file, "--data-dir", directory);
  const other = mkdtempSync(join(tmpdir(), "store-"));
  folders.push(other);
  expect((await setpoint("store", "restore", file, "--data-dir", other)).code).toBe(0);
  expect(await contents(other)).toEqual({ names: all, revision: 1_000_000_006 });
});

test("a damaged backup is refused and named", async () => {
  const directory = await dataDirectory();
  const file = join(directory, "backup.db");
  await setpoint("store", "backup", file, "--data-dir", directory);
  const bytes = readFileSync(file);
  bytes.write("Thong", bytes.lastIndexOf("Thing"));
  writeFileSync(file, bytes);
  const { code, err } = await setpoint("store", "restore", file, "--replace", "--data-dir", directory);
  expect([code, err]).toEqual([1, expect.stringMatching(/\/things\/n\d: the value at revision \d does not match/)]);
});

test("a store that a server uses is left alone", async () => {
  const directory = await dataDirectory();
  await using _storage = open(directory);
  for (const call of [["check"], ["repair"], ["backup", join(directory, "b")]]) {
    const { code, err } = await setpoint("store", ...call, "--data-dir", directory);
    expect([code, err]).toEqual([1, expect.stringContaining("another process uses it")]);
  }
});

test("a directory without a store, and wrong arguments, are one sentence", async () => {
  expect((await setpoint("store", "check", "--data-dir", "/nowhere")).err).toMatch(
    /^Cannot find a store in "\/nowhere/,
  );
  expect((await setpoint("store", "burn")).err).toMatch(/^Cannot use the store: "burn" is not one of check, repair/);
  expect((await setpoint("store", "check", "--replace")).err).toMatch(
    /^Cannot use the store: check does not take --rep/,
  );
});
