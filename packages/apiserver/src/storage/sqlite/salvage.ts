/** Collects every intact record of a damaged store. */
import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { recordSum, StateDigest } from "./checksum.ts";
import { type CommitRecord, firstCommit, sealed } from "./commit-record.ts";
import type { StoredChange } from "./read-log.ts";
import { columnsOfVersion1, isJson, isSound, openDatabase, readHead, rowsOf, versionOf } from "./store-database.ts";
import { isCorruption, openError } from "./store-errors.ts";
import { newestOf, readWitnesses, type StoreFiles } from "./store-files.ts";

/** A revision that no client has seen; etcd recommends the same step for restored snapshots. */
const revisionStep = 1_000_000_000;

export type Records = ReadonlyMap<string, StoredChange>;

export interface Salvage {
  readonly records: Records;
  /** The newest commit that is known. */
  readonly newest: CommitRecord | undefined;
  /** Whether the records are all of the newest commit. */
  readonly isComplete: boolean;
}

export function keyOf({ prefix, path }: { readonly prefix: string; readonly path: string }): string {
  return `${prefix}/${path}`;
}

/** Throws `ERR_DATA_DIR_IN_USE` while a server uses the store. */
export function salvageStore(files: StoreFiles): Salvage {
  const { head, rows } = salvageDatabase(files);
  const { log, mark } = readWitnesses(files);
  const newest = newestOf(head, log?.newest, mark);
  const changes = [...(log?.commits ?? []).flatMap((each) => each.changes), ...(log?.stray ?? [])];
  const merged = withChanges(rows, changes);
  // Without the log's tail the log may hold what was deleted later; then the database alone is right.
  for (const records of [merged, rows])
    if (newest !== undefined && isStateOf(records, newest)) return { records, newest, isComplete: true };
  return { records: merged, newest, isComplete: false };
}

function withChanges(rows: Records, changes: readonly StoredChange[]): Records {
  const all = new Map(rows);
  for (const change of changes) {
    const known = all.get(keyOf(change));
    if (known === undefined || known.revision < change.revision) all.set(keyOf(change), change);
  }
  return new Map([...all].filter(([, { value }]) => value !== ""));
}

function digestOf(records: Records): string {
  const digest = new StateDigest();
  for (const { sum } of records.values()) digest.toggle(sum);
  return String(digest);
}

function isStateOf(records: Records, commit: CommitRecord): boolean {
  return records.size === commit.count && digestOf(records) === commit.digest;
}

/** The commit that follows everything that was known, with revisions that no client has seen. */
export function nextEpoch(records: Records, ...known: readonly (CommitRecord | undefined)[]): CommitRecord {
  const newest = newestOf(...known) ?? firstCommit;
  const revisions = [...records.values()].map(({ revision }) => revision);
  const highest = [newest, ...known.filter((each) => each !== undefined)].map(({ revision }) => revision);
  const revision = [...highest, ...revisions].reduce((a, b) => Math.max(a, b)) + revisionStep;
  const { sequence, hash } = newest;
  return sealed({ sequence: sequence + 1, revision, count: records.size, digest: digestOf(records), previous: hash });
}

function salvageDatabase(files: StoreFiles): { readonly head: CommitRecord | undefined; readonly rows: Records } {
  const rows = new Map<string, StoredChange>();
  if (!existsSync(files.database)) return { head: undefined, rows };
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(files.directory, files.database);
    const version = versionOf(database, files.database);
    if (version === 0) return { head: undefined, rows };
    if (version === 1) return { head: undefined, rows: rowsOfVersion1(database) };
    // From both ends: a damaged page stops either.
    for (const order of ["ASC", "DESC"] as const) addSound(database, order, rows);
    return { head: headOf(database), rows };
  } catch (error) {
    if (isCorruption(error)) return { head: undefined, rows };
    throw openError(error, files.directory);
  } finally {
    database?.close();
  }
}

function headOf(database: DatabaseSync): CommitRecord | undefined {
  try {
    return readHead(database);
  } catch {
    return undefined;
  }
}

function addSound(database: DatabaseSync, order: "ASC" | "DESC", rows: Map<string, StoredChange>): void {
  try {
    for (const row of rowsOf(database, order)) if (isSound(row)) rows.set(keyOf(row), row);
  } catch (error) {
    if (!isCorruption(error)) throw error;
  }
}

function rowsOfVersion1(database: DatabaseSync): Records {
  const rows = new Map<string, StoredChange>();
  try {
    for (const row of database.prepare(columnsOfVersion1).iterate()) {
      const prefix = String(row["prefix"]);
      const path = String(row["path"]);
      const value = String(row["value"]);
      const revision = Number(row["revision"]);
      const record = { prefix, path, revision, value, sum: recordSum(prefix, path, revision, value) };
      if (isJson(value)) rows.set(keyOf(record), record);
    }
  } catch (error) {
    if (!isCorruption(error)) throw error;
  }
  return rows;
}
