/**
 * Applies commits that are only in the log, and verifies every record. The caller holds the transaction.
 */
import type { DatabaseSync } from "node:sqlite";
import { StateDigest } from "./checksum.ts";
import type { CommitRecord } from "./commit-record.ts";
import { compareHistory } from "./compare-history.ts";
import type { LoggedCommit, StoredChange } from "./read-log.ts";
import { isSound, readHead, RecordWriter, rowsOf } from "./store-database.ts";
import { isCorruption } from "./store-errors.ts";
import type { Witnesses } from "./store-files.ts";

export interface Examination {
  /** What is damaged, a sentence each; empty when the store is sound. */
  readonly findings: readonly string[];
  /** What was put right without a loss, a sentence each. */
  readonly notes: readonly string[];
  readonly head: CommitRecord | undefined;
  /** Whether the log has to begin again after the head. */
  readonly replacesLog: boolean;
}

/** `onRow` gets every sound record. */
export function examineStore(
  database: DatabaseSync,
  witnesses: Witnesses,
  onRow: (row: StoredChange) => void,
): Examination {
  const structure = structureOf(database);
  const before = attempt(() => readHead(database));
  const { findings, replay, logReplaced } = compareHistory(before, witnesses);
  const replayed = before === undefined || structure.length > 0 ? [] : replayCommits(database, before, replay);
  const head = attempt(() => readHead(database));
  const records = verifyRecords(database, head, witnesses, onRow);
  const notes = replay.length === 0 ? [] : [`${commitsOf(replay)} applied from state.log`];
  if (logReplaced !== undefined) notes.push(`${logReplaced}; replaced by a new one`);
  return {
    findings: [...structure, ...findings, ...replayed, ...records],
    notes,
    head,
    replacesLog: logReplaced !== undefined,
  };
}

function commitsOf(replay: readonly LoggedCommit[]): string {
  return replay.length === 1 ? "1 commit" : `${replay.length} commits`;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** What SQLite finds in its own pages. */
export function structureOf(database: DatabaseSync): readonly string[] {
  try {
    const found = database
      .prepare("PRAGMA quick_check(20)")
      .all()
      .map((row) => String(Object.values(row)[0]));
    return found[0] === "ok" ? [] : found.map((each) => `state.db: ${each.replaceAll("\n", " ")}`);
  } catch (error) {
    if (!isCorruption(error)) throw error;
    return ["state.db: its pages are damaged"];
  }
}

function replayCommits(database: DatabaseSync, head: CommitRecord, replay: readonly LoggedCommit[]): readonly string[] {
  if (replay.length === 0) return [];
  const writer = new RecordWriter(database, head);
  for (const { commit, changes } of replay) {
    for (const change of changes) applyChange(writer, change);
    const sealed = writer.seal(commit.revision);
    if (sealed.hash !== commit.hash)
      return [`state.log: revision ${commit.revision} does not fit the records of state.db`];
    writer.accept(sealed);
  }
  return [];
}

function applyChange(writer: RecordWriter, change: StoredChange): void {
  if (change.value === "") writer.delete(change.prefix, change.path);
  else writer.put(change);
}

/** Compares every record with its checksum, and all of them with the head. */
export function verifyRecords(
  database: DatabaseSync,
  head: CommitRecord | undefined,
  witnesses: Witnesses,
  onRow: (row: StoredChange) => void,
): readonly string[] {
  const findings: string[] = [];
  const digest = new StateDigest();
  const revisions = new Map<string, number>();
  try {
    for (const row of rowsOf(database)) {
      revisions.set(`${row.prefix}/${row.path}`, row.revision);
      if (isSound(row)) onRow(row);
      else
        findings.push(`${row.prefix}/${row.path}: the value at revision ${row.revision} does not match its checksum`);
      if (/^[0-9a-f]{32}$/.test(row.sum)) digest.toggle(row.sum);
    }
  } catch (error) {
    if (!isCorruption(error)) throw error;
    findings.push(`state.db: records after the first ${revisions.size} cannot be read`);
  }
  if (head === undefined || (head.count === revisions.size && head.digest === String(digest))) return findings;
  findings.push(...differences(revisions, witnesses));
  if (revisions.size !== head.count)
    findings.push(`state.db: ${revisions.size} objects found, expected ${head.count} at revision ${head.revision}`);
  else findings.push(`state.db: its objects are not those of revision ${head.revision}`);
  return findings;
}

/** Objects of which the log has another revision than the database. */
function differences(revisions: ReadonlyMap<string, number>, { log }: Witnesses): readonly string[] {
  const newest = new Map<string, StoredChange>();
  for (const { changes } of log?.commits ?? [])
    for (const change of changes) newest.set(`${change.prefix}/${change.path}`, change);
  return [...newest].flatMap(([key, { revision, value }]) => {
    const found = revisions.get(key);
    if (value === "") return found === undefined ? [] : [`${key}: was deleted at revision ${revision}, but is present`];
    if (found === revision) return [];
    return [`${key}: revision ${revision} expected, ${found === undefined ? "nothing" : `revision ${found}`} found`];
  });
}
