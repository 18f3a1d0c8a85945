/**
 * Every kind of damage to a store's files: the store is complete all the same, or it is refused and the
 * damage is named.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isSetpointError, type UnstructuredObject } from "@setpoint/apimachinery";
import { silentLogger } from "@setpoint/host";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MvccStorage } from "../mvcc-storage.ts";
import type { Storage } from "../storage.ts";
import { openSqliteStorage } from "./index.ts";
import { repairStore } from "./repair-store.ts";
import { SqliteJournal } from "./sqlite-journal.ts";

const clock = new VirtualClock(seededRandom(1));
const open = (directory: string) => openSqliteStorage({ clock, log: silentLogger, directory });
const objects = 120;
/** Objects that the copy of the middle knows. */
const objectsEarly = 40;
let root = "";
/**
 * A store after 120 acknowledged creates and 30 updates, as kill -9 leaves it: SQLite's log is full, nothing
 * is closed.
 */
let killed = "";
/** The same store after it was closed. */
let closed = "";
/** A copy from the middle of its life. */
let early = "";
/** The killed store with a log that begins somewhere in the middle. */
let restarted = "";

const things = (path: string) => ({ prefix: "/things", path });
const thing = (name: string, value: number): UnstructuredObject => ({
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name },
  spec: { value, text: `payload-${name}-${"x".repeat(400)}` },
});

/** Writes everything, and calls `onEarly` in the middle. */
async function fill(storage: Storage, onEarly: () => void): Promise<void> {
  const write = async (i: number, value: number): Promise<void> => {
    const done = storage.write(things(`n${i}`), () => thing(`n${i}`, value));
    await clock.settle();
    await done;
  };
  for (let i = 0; i < objects; i++) {
    await write(i, 0);
    if (i === objectsEarly - 1) onEarly();
  }
  for (let i = 0; i < 30; i++) await write(i, 1);
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "damage-"));
  const folder = (name: string): string => join(root, name);
  [killed, closed, early, restarted] = [folder("killed"), folder("closed"), folder("early"), folder("restarted")];
  const storage = open(folder("live"));
  await fill(storage, () => cpSync(folder("live"), early, { recursive: true }));
  cpSync(folder("live"), killed, { recursive: true });
  await storage[Symbol.asyncDispose]();
  cpSync(folder("live"), closed, { recursive: true });
  const journal = new SqliteJournal(folder("short"), silentLogger, 30_000);
  await using short = new MvccStorage({ clock, log: silentLogger, journal });
  await fill(short, () => {});
  cpSync(folder("short"), restarted, { recursive: true });
});

afterAll(() => rmSync(root, { recursive: true }));

let copies = 0;

function copyOf(origin: string): string {
  const directory = join(root, `copy-${copies++}`);
  cpSync(origin, directory, { recursive: true });
  return directory;
}

/** Missing, changed or older objects of what was acknowledged. */
function lossesOf(storage: ReturnType<typeof open>): readonly string[] {
  const losses: string[] = [];
  for (let i = 0; i < objects; i++) {
    const wanted = thing(`n${i}`, i < 30 ? 1 : 0);
    const found = storage.get(things(`n${i}`));
    if (JSON.stringify(found?.["spec"]) !== JSON.stringify(wanted["spec"])) losses.push(`n${i}`);
  }
  if (storage.revision < 1 + objects + 30) losses.push(`revision ${storage.revision}`);
  return losses;
}

/** "complete", the message of the refusal, or a list of what was lost in silence. */
async function outcomeOf(directory: string): Promise<string> {
  try {
    await using storage = open(directory);
    const losses = lossesOf(storage);
    return losses.length === 0 ? "complete" : `lost in silence: ${losses.join(" ")}`;
  } catch (error) {
    if (isSetpointError(error, "ERR_DATA_DIR_CORRUPT")) return error.message;
    throw error;
  }
}

function flip(file: string, at: number, count = 64): void {
  const bytes = readFileSync(file);
  for (let i = at; i < Math.min(bytes.length, at + count); i++) bytes[i] = (bytes[i] ?? 0) ^ 0xff;
  writeFileSync(file, bytes);
}

const size = (file: string): number => statSync(file).size;
const cut = (file: string, part: number): void => truncateSync(file, Math.floor(size(file) * part));

function change(directory: string, sql: string): void {
  const database = new DatabaseSync(join(directory, "state.db"));
  database.exec(sql);
  database.close();
}

interface Damage {
  readonly what: string;
  readonly origin?: "killed" | "closed" | "restarted";
  readonly strike: (directory: string) => void;
  /** Text of the refusal, or "complete". */
  readonly expected: string | RegExp;
}

const wal = (directory: string): string => join(directory, "state.db-wal");
const database = (directory: string): string => join(directory, "state.db");
const log = (directory: string): string => join(directory, "state.log");
const mark = (directory: string): string => join(directory, "state.mark");
const lastLineAt = (file: string): number => readFileSync(file, "utf8").trimEnd().lastIndexOf("\n") + 1;

const table: readonly Damage[] = [
  { what: "nothing", strike: () => {}, expected: "complete" },
  { what: "the WAL deleted", strike: (at) => rmSync(wal(at)), expected: "complete" },
  ...[0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999].map((part): Damage => ({
    what: `the WAL cut at ${part}`,
    strike: (at) => cut(wal(at), part),
    expected: "complete",
  })),
  ...[0, 0.01, 0.2, 0.4, 0.6, 0.8, 0.99].map((part): Damage => ({
    what: `64 bytes flipped at ${part} of the WAL`,
    strike: (at) => flip(wal(at), Math.floor(size(wal(at)) * part)),
    expected: "complete",
  })),
  { what: "the log's tail cut", strike: (at) => cut(log(at), 0.99), expected: "complete" },
  { what: "the log cut in the middle", strike: (at) => cut(log(at), 0.5), expected: "complete" },
  { what: "the log emptied", strike: (at) => cut(log(at), 0), expected: "complete" },
  { what: "the log deleted", strike: (at) => rmSync(log(at)), expected: "complete" },
  { what: "the log flipped in the middle", strike: (at) => flip(log(at), size(log(at)) >> 1), expected: "complete" },
  { what: "the log's first line flipped", strike: (at) => flip(log(at), 5), expected: "complete" },
  {
    what: "the log's last commit flipped",
    strike: (at) => flip(log(at), lastLineAt(log(at)), 9),
    expected: "complete",
  },
  { what: "an older log put back", strike: (at) => copyFileSync(log(early), log(at)), expected: "complete" },
  { what: "the mark deleted", strike: (at) => rmSync(mark(at)), expected: "complete" },
  { what: "the mark flipped", strike: (at) => flip(mark(at), 0, 512), expected: "complete" },
  { what: "an older mark put back", strike: (at) => copyFileSync(mark(early), mark(at)), expected: "complete" },
  {
    what: "WAL and log deleted",
    strike: (at) => [rmSync(wal(at)), rmSync(log(at))],
    expected: /state\.db is empty; it was at revision 151/,
  },
  {
    what: "WAL and log cut",
    strike: (at) => [cut(wal(at), 0.5), cut(log(at), 0.3)],
    expected: /revisions \d+ to 151 acknowledged, but missing/,
  },
  {
    what: "WAL deleted, log flipped in the middle",
    strike: (at) => [rmSync(wal(at)), flip(log(at), size(log(at)) >> 1)],
    expected:
      /revisions \d+ to 151 acknowledged[^]*state\.log is damaged at line \d+[^]*\/things\/n\d+: revision \d+ is missing/,
  },
  {
    what: "WAL cut, the log's last commit flipped",
    strike: (at) => [cut(wal(at), 0.9), flip(log(at), lastLineAt(log(at)), 9)],
    expected: /acknowledged, but missing/,
  },
  {
    what: "WAL and log cut, the mark deleted",
    strike: (at) => [cut(wal(at), 0.2), flip(log(at), size(log(at)) >> 1), rmSync(mark(at))],
    expected: /revisions \d+ to 151 acknowledged/,
  },
  {
    what: "log and mark deleted",
    strike: (at) => [rmSync(log(at)), rmSync(mark(at))],
    expected: /state\.log is missing: revisions after 151 may be lost/,
  },
  {
    what: "an older log put back, the mark deleted",
    strike: (at) => [copyFileSync(log(early), log(at)), rmSync(mark(at))],
    expected: /state\.log ends at revision 41, state\.db at 151/,
  },
  {
    what: "an older database put back, with its WAL",
    strike: (at) => [copyFileSync(database(early), database(at)), copyFileSync(wal(early), wal(at))],
    expected: "complete",
  },
  {
    what: "an older database put back, WAL deleted, log deleted",
    strike: (at) => [copyFileSync(database(early), database(at)), rmSync(wal(at)), rmSync(log(at))],
    expected: /state\.(log|db) is/,
  },
  {
    what: "an older database and log put back",
    strike: (at) => [database, wal, log].map((file) => copyFileSync(file(early), file(at))),
    expected: /revisions 42 to 151 acknowledged, but missing/,
  },
  {
    what: "the database deleted",
    strike: (at) => rmSync(database(at)),
    expected: "complete",
  },
  {
    what: "database and WAL deleted",
    strike: (at) => [rmSync(database(at)), rmSync(wal(at))],
    expected: "complete",
  },
  {
    what: "database and log deleted",
    strike: (at) => [rmSync(database(at)), rmSync(log(at))],
    expected: /state\.db is missing; it was at revision 151/,
  },
  {
    what: "the database deleted, when the log has begun again,",
    origin: "restarted",
    strike: (at) => rmSync(database(at)),
    expected: /state\.db is missing; it was at revision 151/,
  },
  {
    what: "the WAL deleted, when the log has begun again,",
    origin: "restarted",
    strike: (at) => rmSync(wal(at)),
    expected: "complete",
  },
  {
    what: "an older database put back, when the log has begun again,",
    origin: "restarted",
    strike: (at) => [copyFileSync(database(early), database(at)), copyFileSync(wal(early), wal(at))],
    expected: /state\.db is older than the first line of state\.log[^]*revisions 42 to 151 acknowledged, but missing/,
  },
  {
    what: "an older database put back under a newer WAL",
    origin: "restarted",
    strike: (at) => copyFileSync(database(early), database(at)),
    expected: /it is damaged/,
  },
  {
    what: "the database emptied",
    origin: "closed",
    strike: (at) => cut(database(at), 0),
    expected: "complete",
  },
  {
    what: "the database cut in half",
    origin: "closed",
    strike: (at) => cut(database(at), 0.5),
    expected: /state\.db/,
  },
  ...[0, 0.1, 0.3, 0.5, 0.7, 0.9].map((part): Damage => ({
    what: `64 bytes flipped at ${part} of the database`,
    origin: "closed",
    strike: (at) => flip(database(at), Math.floor(size(database(at)) * part) + 200),
    // What is free space in a page may be damaged without a loss.
    expected: /^complete$|it is damaged/,
  })),
  {
    what: "a byte of a value changed through SQLite",
    origin: "closed",
    strike: (at) =>
      change(at, "UPDATE objects SET value = replace(value, 'payload-n7-', 'Payload-n7-') WHERE path = 'n7'"),
    expected: /\/things\/n7: the value at revision \d+ does not match its checksum/,
  },
  {
    what: "a revision changed through SQLite",
    origin: "closed",
    strike: (at) => change(at, "UPDATE objects SET revision = 9 WHERE path = 'n50'"),
    expected: /\/things\/n50: the value at revision 9 does not match its checksum/,
  },
  {
    what: "a key changed through SQLite",
    origin: "closed",
    strike: (at) => change(at, "UPDATE objects SET path = 'n999' WHERE path = 'n50'"),
    expected: /\/things\/n999: the value at revision \d+ does not match its checksum/,
  },
  {
    what: "an object deleted through SQLite",
    origin: "closed",
    strike: (at) => change(at, "DELETE FROM objects WHERE path = 'n50'"),
    expected: /\/things\/n50: revision 52 expected, nothing found[^]*119 objects found, expected 120 at revision 151/,
  },
  {
    what: "the head changed through SQLite",
    origin: "closed",
    strike: (at) => change(at, "UPDATE head SET link = replace(link, '151', '150')"),
    expected: /its head record is missing or damaged/,
  },
  {
    what: "the head deleted through SQLite",
    origin: "closed",
    strike: (at) => change(at, "DELETE FROM head"),
    expected: /its head record is missing or damaged/,
  },
];

test.each(table)("after $what the store is complete or refused", async ({ origin = "killed", strike, expected }) => {
  const directory = copyOf({ killed, closed, restarted }[origin]);
  strike(directory);
  const outcome = await outcomeOf(directory);
  if (typeof expected === "string") expect(outcome).toBe(expected);
  else expect(outcome).toMatch(expected);
  // What was found once is found again: opening has not made it worse.
  const again = await outcomeOf(directory);
  if (outcome === "complete") expect(again).toBe("complete");
  else expect(again).toContain("it is damaged");
});

test.each(table)(
  "after $what a repair serves what is sound, and no revision twice",
  async ({ origin = "killed", strike }) => {
    const directory = copyOf({ killed, closed, restarted }[origin]);
    strike(directory);
    const isDamaged = (await outcomeOf(directory)) !== "complete";
    const { outcome } = repairStore(directory, { acceptLoss: true });
    if (isDamaged) expect(outcome).toMatch(/repaired|accepted/);
    await using storage = open(directory);
    for (const { metadata, ...object } of storage.list("/things").objects) {
      const value = (object["spec"] as { readonly value: number }).value;
      expect(object["spec"]).toEqual(thing(metadata.name ?? "", value)["spec"]);
    }
    if (outcome === "accepted") expect(storage.revision).toBeGreaterThan(1_000_000_000);
    else expect(lossesOf(storage)).toEqual([]);
  },
);

test("any 16 bytes flipped anywhere in any file lose nothing in silence", async () => {
  const random = seededRandom(5);
  const outcomes = { complete: 0, refused: 0 };
  for (let i = 0; i < 60; i++) {
    const directory = copyOf(i % 2 === 0 ? killed : closed);
    const files = [database, wal, log, mark].map((file) => file(directory)).filter((file) => existsSync(file));
    const file = files[random.int(files.length)] ?? "";
    flip(file, random.int(Math.max(1, size(file))), 16);
    const outcome = await outcomeOf(directory);
    expect(outcome).toMatch(/^complete$|it is damaged/);
    outcomes[outcome === "complete" ? "complete" : "refused"]++;
    rmSync(directory, { recursive: true });
  }
  expect(outcomes.complete).toBeGreaterThan(20);
});
