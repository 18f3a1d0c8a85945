/**
 * Opens a store: upgrades an older layout, applies commits that are only in the log, rejects a damaged store.
 */
import { existsSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { CommitLog } from "./commit-log.ts";
import { type CommitRecord, firstCommit } from "./commit-record.ts";
import { examineStore } from "./examine-store.ts";
import type { StoredChange } from "./read-log.ts";
import { finishReplacement } from "./replace-store.ts";
import {
  createTables,
  openDatabase,
  readHead,
  revisionOfVersion1,
  upgradeTables,
  versionOf,
} from "./store-database.ts";
import { damaged, isCorruption, openError } from "./store-errors.ts";
import { filesOf, isWholeHistory, knownCommit, readWitnesses, type StoreFiles } from "./store-files.ts";

export interface OpenedStore {
  readonly database: DatabaseSync;
  readonly log: CommitLog;
  readonly head: CommitRecord;
  /** What was put right without a loss, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * `onRow` gets every record. Throws `ERR_DATA_DIR_CORRUPT` when anything is damaged, `ERR_DATA_DIR_IN_USE`,
 * `ERR_DATA_DIR_VERSION`.
 */
export function openStore(directory: string, onRow: (row: StoredChange) => void): OpenedStore {
  const files = filesOf(directory);
  finishReplacement(directory);
  refuseMissing(files);
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(directory, files.database);
    const notes = prepareLayout(database, files);
    return { ...verified(database, files, onRow, notes) };
  } catch (error) {
    database?.close();
    if (isCorruption(error)) throw damaged(directory, ["state.db: it is not a sound database"], error);
    throw openError(error, directory);
  }
}

/** A store that was written to has a database, or a log that begins with its first commit. */
function refuseMissing(files: StoreFiles): void {
  if (existsSync(files.database)) return;
  const witnesses = readWitnesses(files);
  const known = knownCommit(witnesses);
  if (known === undefined || isWholeHistory(witnesses)) return;
  throw damaged(files.directory, [`state.db is missing; it was at revision ${known.revision}`]);
}

function prepareLayout(database: DatabaseSync, files: StoreFiles): readonly string[] {
  const version = versionOf(database, files.database);
  if (version === 0) createEmpty(database, files);
  return version === 1 ? upgrade(database, files) : [];
}

function createEmpty(database: DatabaseSync, files: StoreFiles): void {
  const witnesses = readWitnesses(files);
  const known = knownCommit(witnesses);
  if (known === undefined) CommitLog.create(files.log, firstCommit).close();
  else if (!isWholeHistory(witnesses))
    throw damaged(files.directory, [`state.db is empty; it was at revision ${known.revision}`]);
  createTables(database);
}

function upgrade(database: DatabaseSync, files: StoreFiles): readonly string[] {
  const known = knownCommit(readWitnesses(files));
  const revision = revisionOfVersion1(database);
  // An upgrade that was cut short has left a log with the same revision.
  if (known !== undefined && (known.sequence !== 1 || known.revision !== revision)) {
    const sentence = `state.db is a copy of an older layout at revision ${revision}; the store was at ${known.revision}`;
    throw damaged(files.directory, [sentence]);
  }
  upgradeTables(database, files.directory, (head) => CommitLog.create(files.log, head).close());
  return [`upgraded from layout 1 at revision ${revision}`];
}

function verified(
  database: DatabaseSync,
  files: StoreFiles,
  onRow: (row: StoredChange) => void,
  earlier: readonly string[],
): OpenedStore {
  const witnesses = readWitnesses(files);
  database.exec("BEGIN IMMEDIATE");
  const { findings, notes, head, replacesLog } = examineStore(database, witnesses, onRow);
  if (findings.length > 0 || head === undefined) {
    database.exec("ROLLBACK");
    throw damaged(files.directory, findings);
  }
  database.exec("COMMIT");
  const length = witnesses.log?.length ?? 0;
  const log = replacesLog ? replaceLog(database, files) : CommitLog.open(files.log, length);
  return { database, log, head, notes: [...earlier, ...notes] };
}

function replaceLog(database: DatabaseSync, files: StoreFiles): CommitLog {
  const head = readHead(database) ?? firstCommit;
  checkpoint(database);
  return CommitLog.create(files.log, head);
}

/** Moves everything from SQLite's log into its file and syncs it, so that the commit log may begin again. */
export function checkpoint(database: DatabaseSync): void {
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}
