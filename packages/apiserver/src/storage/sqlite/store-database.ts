/** The database of a store: its tables, its lock, and its rows with their checksums. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { recordSum, StateDigest } from "./checksum.ts";
import { type CommitRecord, firstCommit, formatCommit, parseCommit, sealed } from "./commit-record.ts";
import type { StoredChange } from "./read-log.ts";
import { createPrivateFile, makePrivateFolder } from "./private-files.ts";
import { damaged, unknownVersion } from "./store-errors.ts";

/** The file's name in the data directory. */
export const databaseName = "state.db";

/** Raised when the layout of the tables changes. Version 1 had neither checksums nor commits. */
export const layoutVersion = 2;

const layout = `
  CREATE TABLE objects (
    prefix TEXT NOT NULL, path TEXT NOT NULL, revision INTEGER NOT NULL, value TEXT NOT NULL, sum TEXT,
    PRIMARY KEY (prefix, path)
  ) WITHOUT ROWID;
`;
const headLayout = "CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), link TEXT NOT NULL) STRICT;";

/** Opens the file and takes its lock, which dies with the process. Throws what SQLite throws. */
export function openDatabase(directory: string, path: string): DatabaseSync {
  makePrivateFolder(directory);
  createPrivateFile(path);
  const database = new DatabaseSync(path);
  try {
    // The exclusive mode must be set before the journal mode: then the index of the log is in memory, and the
    // lock is held until the process ends, however it ends. Commits are made durable by the commit log's
    // sync, not by SQLite's.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    database.exec("BEGIN IMMEDIATE; COMMIT;");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** 0 is a file without tables. Throws `ERR_DATA_DIR_VERSION` for one that a newer program wrote. */
export function versionOf(database: DatabaseSync, path: string): number {
  const found = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  if (found > layoutVersion) throw unknownVersion(path, found, layoutVersion);
  return found;
}

/** Makes the tables of an empty store. */
export function createTables(database: DatabaseSync, head: CommitRecord = firstCommit): void {
  database.exec(`BEGIN IMMEDIATE; ${layout} ${headLayout}`);
  insertHead(database, head);
  database.exec(`PRAGMA user_version = ${layoutVersion}; COMMIT`);
}

/**
 * Adds checksums and the head to the tables of version 1; `beforeCommit` runs with the head before anything
 * is final.
 */
export function upgradeTables(
  database: DatabaseSync,
  directory: string,
  beforeCommit: (head: CommitRecord) => void,
): void {
  database.exec(`BEGIN IMMEDIATE; ALTER TABLE objects ADD COLUMN sum TEXT; ${headLayout}`);
  const digest = new StateDigest();
  const findings: string[] = [];
  let count = 0;
  const setSum = database.prepare("UPDATE objects SET sum = ? WHERE prefix = ? AND path = ?");
  for (const { prefix, path } of database.prepare("SELECT prefix, path FROM objects").all()) {
    const row = oneRow(database, String(prefix), String(path));
    if (!isJson(row.value))
      findings.push(`${row.prefix}/${row.path}: the value at revision ${row.revision} is not JSON`);
    const sum = recordSum(row.prefix, row.path, row.revision, row.value);
    setSum.run(sum, row.prefix, row.path);
    digest.toggle(sum);
    count++;
  }
  if (findings.length > 0) throw damaged(directory, findings);
  const revision = revisionOfVersion1(database);
  const head = sealed({ ...firstCommit, sequence: 1, revision, count, digest: String(digest) });
  insertHead(database, head);
  beforeCommit(head);
  database.exec(`DROP TABLE store; PRAGMA user_version = ${layoutVersion}; COMMIT`);
}

/** Whether the text can be parsed. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The revision of a store in the layout of version 1. */
export function revisionOfVersion1(database: DatabaseSync): number {
  return Number(database.prepare("SELECT revision FROM store").get()?.["revision"] ?? 1);
}

function insertHead(database: DatabaseSync, head: CommitRecord): void {
  database.prepare("INSERT INTO head VALUES (1, ?)").run(formatCommit(head));
}

/** Absent when it is missing or damaged. */
export function readHead(database: DatabaseSync): CommitRecord | undefined {
  return parseCommit(String(database.prepare("SELECT link FROM head WHERE id = 1").get()?.["link"] ?? ""));
}

type Row = Record<string, unknown>;

function storedOf({ prefix, path, revision, value, sum }: Row): StoredChange {
  const texts = { prefix: String(prefix), path: String(path), value: String(value), sum: String(sum) };
  return { ...texts, revision: Number(revision) };
}

/** Reads the records of layout 1. */
export const columnsOfVersion1 = "SELECT prefix, path, revision, value FROM objects";
const columns = "SELECT prefix, path, revision, value, sum FROM objects";

function oneRow(database: DatabaseSync, prefix: string, path: string): StoredChange {
  return storedOf(database.prepare(`${columns} WHERE prefix = ? AND path = ?`).get(prefix, path) ?? {});
}

/** All rows in the order of their keys, unverified. Throws what SQLite throws at a page that is damaged. */
export function* rowsOf(database: DatabaseSync, order: "ASC" | "DESC" = "ASC"): Generator<StoredChange> {
  const statement = database.prepare(`${columns} ORDER BY prefix ${order}, path ${order}`);
  for (const row of statement.iterate()) yield storedOf(row);
}

/** Whether a row is what was written. */
export function isSound({ prefix, path, revision, value, sum }: StoredChange): boolean {
  return recordSum(prefix, path, revision, value) === sum;
}

/** Writes changes and keeps the digest and the count of the records; inside a transaction of the caller. */
export class RecordWriter {
  readonly #put: StatementSync;
  readonly #delete: StatementSync;
  readonly #sumOf: StatementSync;
  readonly #setHead: StatementSync;
  #digest: StateDigest;
  #count: number;
  #head: CommitRecord;

  constructor(database: DatabaseSync, head: CommitRecord) {
    this.#put = database.prepare("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)");
    this.#delete = database.prepare("DELETE FROM objects WHERE prefix = ? AND path = ?");
    this.#sumOf = database.prepare("SELECT sum FROM objects WHERE prefix = ? AND path = ?");
    this.#setHead = database.prepare("UPDATE head SET link = ?");
    this.#head = head;
    this.#digest = new StateDigest(head.digest);
    this.#count = head.count;
  }

  get head(): CommitRecord {
    return this.#head;
  }

  put({ prefix, path, revision, value, sum }: StoredChange, isNew = false): void {
    if (!isNew) this.#forget(prefix, path);
    this.#put.run(prefix, path, revision, value, sum);
    this.#digest.toggle(sum);
    this.#count++;
  }

  delete(prefix: string, path: string): void {
    this.#forget(prefix, path);
    this.#delete.run(prefix, path);
  }

  /** Writes the head of the current commit; it takes effect with `accept`. */
  seal(revision: number): CommitRecord {
    const { sequence, hash } = this.#head;
    const next = { sequence: sequence + 1, revision, count: this.#count, digest: String(this.#digest), previous: hash };
    const commit = sealed(next);
    this.#setHead.run(formatCommit(commit));
    return commit;
  }

  accept(commit: CommitRecord): void {
    this.#head = commit;
  }

  /** Goes back to the last accepted commit. */
  abandon(): void {
    this.#digest = new StateDigest(this.#head.digest);
    this.#count = this.#head.count;
  }

  #forget(prefix: string, path: string): void {
    const sum = this.#sumOf.get(prefix, path)?.["sum"];
    if (typeof sum !== "string") return;
    this.#digest.toggle(sum);
    this.#count--;
  }
}
