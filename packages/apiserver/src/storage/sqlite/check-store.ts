/** Verifies a store without changing its contents. */
import { existsSync } from "node:fs";
import { type DatabaseSync } from "node:sqlite";
import { SetpointError } from "@setpoint/apimachinery";
import { examineStore } from "./examine-store.ts";
import { openDatabase, versionOf } from "./store-database.ts";
import { isCorruption, openError } from "./store-errors.ts";
import { filesOf, isWholeHistory, knownCommit, readWitnesses, type StoreFiles } from "./store-files.ts";

/** What a check of a store has found. */
export interface StoreReport {
  /** What is damaged, a sentence each; empty when the store is sound. */
  readonly findings: readonly string[];
  /** What the next start puts right without a loss, a sentence each. */
  readonly notes: readonly string[];
  readonly objects: number;
  /** The newest revision; absent when it cannot be read. */
  readonly revision: number | undefined;
}

/**
 * Verifies every record of the store in `directory` and its history.
 *
 * Errors: `ERR_DATA_DIR_IN_USE` while a server uses it, `ERR_NO_STORE` when there is none,
 * `ERR_DATA_DIR_VERSION`.
 */
export function checkStore(directory: string): StoreReport {
  const files = filesOf(directory);
  refuseNoStore(files);
  if (!existsSync(files.database)) return withoutDatabase(files, "missing");
  let database: DatabaseSync | undefined;
  try {
    database = openDatabase(directory, files.database);
    return checkDatabase(database, files);
  } catch (error) {
    if (isCorruption(error)) return damage("state.db: it is not a sound database");
    throw openError(error, directory);
  } finally {
    database?.close();
  }
}

/** Throws `ERR_NO_STORE` when none of the files is there. */
export function refuseNoStore(files: StoreFiles): void {
  if ([files.database, files.log, files.mark].some((file) => existsSync(file))) return;
  const message = `Cannot find a store in "${files.directory}": expected state.db; name the directory with --data-dir`;
  throw new SetpointError("ERR_NO_STORE", message);
}

function damage(...findings: readonly string[]): StoreReport {
  return { findings, notes: [], objects: 0, revision: undefined };
}

function checkDatabase(database: DatabaseSync, files: StoreFiles): StoreReport {
  const version = versionOf(database, files.database);
  if (version === 0) return withoutDatabase(files, "empty");
  if (version === 1)
    return { ...damage(), notes: ["layout 1 has no checksums: nothing to compare; the next start upgrades it"] };
  let objects = 0;
  database.exec("BEGIN IMMEDIATE");
  try {
    const { findings, notes, head } = examineStore(database, readWitnesses(files), () => objects++);
    return { findings, notes, objects, revision: head?.revision };
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
  }
}

function withoutDatabase(files: StoreFiles, state: string): StoreReport {
  const witnesses = readWitnesses(files);
  const known = knownCommit(witnesses);
  if (known === undefined) return { findings: [], notes: [], objects: 0, revision: 1 };
  const last = witnesses.log?.commits.at(-1)?.commit;
  if (isWholeHistory(witnesses) && last?.hash === known.hash)
    return {
      ...damage(),
      notes: [`state.db is ${state}; the next start restores it from state.log`],
      revision: known.revision,
    };
  return damage(`state.db is ${state}; it was at revision ${known.revision}`);
}
