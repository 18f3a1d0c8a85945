import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { SetpointError, type UnstructuredObject } from "@setpoint/apimachinery";
import type { Journal, JournalEntry } from "../storage/journal.ts";

const fileName = "state.db";

/** Raised when the layout of the tables changes. */
const schemaVersion = 1;

/** SQLite's primary result codes that we tell apart. */
const sqliteBusy = 5;
const sqliteLocked = 6;
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;

const layout = `
  CREATE TABLE IF NOT EXISTS objects (
    prefix TEXT NOT NULL, path TEXT NOT NULL, revision INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (prefix, path)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS store (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL) STRICT;
  INSERT OR IGNORE INTO store VALUES (1, 1);
`;

/** The objects of a control plane in one SQLite file. One process holds it at a time, by a lock that dies with the process. */
export class SqliteJournal implements Journal {
  readonly revision: number;
  /** Held only until they are taken, so that the objects of the start do not live as long as the journal. */
  #loaded: readonly JournalEntry[];
  readonly #database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #setRevision: StatementSync;

  constructor(directory: string) {
    const path = join(directory, fileName);
    this.#database = openDatabase(directory, path);
    try {
      this.#loaded = readEntries(this.#database, path);
      this.revision = Number(this.#database.prepare("SELECT revision FROM store").get()?.["revision"] ?? 1);
      this.#put = this.#database.prepare("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)");
      this.#delete = this.#database.prepare("DELETE FROM objects WHERE prefix = ? AND path = ?");
      this.#setRevision = this.#database.prepare("UPDATE store SET revision = ?");
    } catch (error) {
      this.#database.close();
      throw openError(error, directory, path);
    }
  }

  /** What was stored at the start; can be taken once. */
  get entries(): readonly JournalEntry[] {
    const loaded = this.#loaded;
    this.#loaded = [];
    return loaded;
  }

  commit(entries: readonly JournalEntry[]): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const entry of entries) this.#write(entry);
      this.#setRevision.run(entries.at(-1)?.revision ?? this.revision);
      this.#database.exec("COMMIT");
    } catch (error) {
      // SQLite may have rolled back by itself (disk full); then there is no transaction to end.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #write({ prefix, path, revision, object }: JournalEntry): void {
    if (object === undefined) this.#delete.run(prefix, path);
    else this.#put.run(prefix, path, revision, JSON.stringify(object));
  }
}

function openDatabase(directory: string, path: string): DatabaseSync {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // The exclusive mode must be set before the journal mode: then the index of the log is in memory, and the lock is
    // held until the process ends, however it ends.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    database.exec(`BEGIN IMMEDIATE; ${layout} COMMIT;`);
    checkVersion(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw openError(error, directory, path);
  }
}

function checkVersion(database: DatabaseSync, path: string): void {
  const found = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  if (found === 0) database.exec(`PRAGMA user_version = ${schemaVersion}`);
  else if (found !== schemaVersion) {
    const message = `Cannot open "${path}": its layout has version ${found}, this program reads version ${schemaVersion}`;
    throw new SetpointError("ERR_DATA_DIR_VERSION", message);
  }
  const check = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0];
  if (check !== "ok") throw corrupt(path, String(check));
}

function readEntries(database: DatabaseSync, path: string): readonly JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (const row of database.prepare("SELECT prefix, path, revision, value FROM objects").iterate()) {
    const { prefix, path: key, revision, value } = row;
    entries.push({
      prefix: String(prefix),
      path: String(key),
      revision: Number(revision),
      object: parseObject(String(value), path, `${String(prefix)}/${String(key)}`),
    });
  }
  return entries;
}

function parseObject(text: string, path: string, key: string): UnstructuredObject {
  try {
    return JSON.parse(text) as UnstructuredObject;
  } catch (cause) {
    throw corrupt(path, `the object ${key} is not JSON`, cause);
  }
}

function openError(error: unknown, directory: string, path: string): unknown {
  const code = (error as { errcode?: unknown }).errcode;
  // Extended codes carry the primary one in the low byte.
  const primary = typeof code === "number" ? code & 0xff : undefined;
  if (primary === sqliteBusy || primary === sqliteLocked) {
    const message = `Cannot open the data directory "${directory}": another process uses it; stop that one or choose another directory`;
    return new SetpointError("ERR_DATA_DIR_IN_USE", message, { cause: error });
  }
  if (primary === sqliteCorrupt || primary === sqliteNotADatabase)
    return corrupt(path, "it is not a sound database", error);
  return error;
}

function corrupt(path: string, why: string, cause?: unknown): SetpointError {
  const advice = "restore it from a copy, or move it away to start empty";
  return new SetpointError("ERR_DATA_DIR_CORRUPT", `Cannot read "${path}": ${why}; ${advice}`, { cause });
}
