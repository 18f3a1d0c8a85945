/** Copies a store into one file, and restores a store from such a file. */
import { existsSync, mkdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { SetpointError } from "@setpoint/apimachinery";
import type { CommitRecord } from "./commit-record.ts";
import { refuseNoStore } from "./check-store.ts";
import { structureOf, verifyRecords } from "./examine-store.ts";
import { openStore } from "./open-store.ts";
import { createPrivateFile } from "./private-files.ts";
import type { StoredChange } from "./read-log.ts";
import { finishReplacement, replaceStore } from "./replace-store.ts";
import { keyOf, nextEpoch, salvageStore } from "./salvage.ts";
import { layoutVersion, readHead, versionOf } from "./store-database.ts";
import { damaged, isCorruption } from "./store-errors.ts";
import { filesOf } from "./store-files.ts";

/** What a backup or a restore copied: the number of objects and the revision of the store. */
export interface StoreCopy {
  readonly objects: number;
  readonly revision: number;
  /** Where the files of the replaced store are. */
  readonly aside?: string;
}

/**
 * Copies the store in `directory` into `file`, which must not exist. A damaged store is not copied.
 *
 * Errors: `ERR_DATA_DIR_CORRUPT`, `ERR_DATA_DIR_IN_USE` while a server uses it, `ERR_NO_STORE`,
 * `ERR_FILE_EXISTS`.
 */
export function backupStore(directory: string, file: string): StoreCopy {
  refuseNoStore(filesOf(directory));
  if (existsSync(file)) throw new SetpointError("ERR_FILE_EXISTS", `Cannot write the backup "${file}": it exists`);
  let objects = 0;
  const { database, log, head } = openStore(directory, () => objects++);
  try {
    createPrivateFile(file);
    database.prepare("VACUUM INTO ?").run(file);
  } finally {
    database.close();
    log.close();
  }
  return { objects, revision: head.revision };
}

/**
 * Makes the store in `directory` from a backup. Revisions go on above everything that was known, so that
 * clients list again.
 *
 * Errors: `ERR_DATA_DIR_CORRUPT` when the backup is damaged, `ERR_STORE_EXISTS` when `directory` has a store
 * and `replace` is false, `ERR_DATA_DIR_IN_USE`.
 */
export function restoreStore(directory: string, file: string, options: { readonly replace: boolean }): StoreCopy {
  const { records, head } = readBackup(file);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  finishReplacement(directory);
  const files = filesOf(directory);
  const isPresent = [files.database, files.log, files.mark].some((each) => existsSync(each));
  if (isPresent && !options.replace) {
    const message = `Cannot restore into "${directory}": it has a store; --replace puts the backup in its place and keeps the old files aside`;
    throw new SetpointError("ERR_STORE_EXISTS", message);
  }
  const present = isPresent ? salvageStore(files).newest : undefined;
  const next = nextEpoch(records, head, present);
  const aside = replaceStore(directory, records, next);
  return { objects: records.size, revision: next.revision, ...(isPresent ? { aside } : {}) };
}

function readBackup(file: string): { readonly records: Map<string, StoredChange>; readonly head: CommitRecord } {
  if (!existsSync(file)) throw new SetpointError("ERR_NO_STORE", `Cannot read the backup "${file}": it does not exist`);
  const records = new Map<string, StoredChange>();
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    if (versionOf(database, file) !== layoutVersion) throw notABackup(file);
    const head = readHead(database);
    const witnesses = { log: undefined, mark: undefined };
    const findings = [
      ...structureOf(database),
      ...verifyRecords(database, head, witnesses, (row) => records.set(keyOf(row), row)),
    ];
    if (head === undefined || findings.length > 0) throw damaged(file, findings);
    return { records, head };
  } catch (error) {
    throw isCorruption(error) ? notABackup(file) : error;
  } finally {
    database?.close();
  }
}

function notABackup(file: string): SetpointError {
  const message = `Cannot read the backup "${file}": expected a file written by "setpoint store backup"`;
  return new SetpointError("ERR_DATA_DIR_CORRUPT", message);
}
