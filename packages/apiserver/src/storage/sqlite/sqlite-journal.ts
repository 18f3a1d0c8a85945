import type { DatabaseSync } from "node:sqlite";
import { decodeJson, encodeJson, SetpointError, type UnstructuredObject } from "@setpoint/apimachinery";
import type { Logger } from "@setpoint/host";
import { isDiskFull } from "./disk-room.ts";
import type { Journal, JournalEntry } from "../journal.ts";
import { recordSum } from "./checksum.ts";
import { type CommitLog, formatChange } from "./commit-log.ts";
import type { CommitRecord } from "./commit-record.ts";
import { HighWaterMark } from "./high-water-mark.ts";
import { checkpoint, openStore } from "./open-store.ts";
import type { StoredChange } from "./read-log.ts";
import { RecordWriter } from "./store-database.ts";
import { diskFull } from "./store-errors.ts";
import { filesOf } from "./store-files.ts";

/** The commit log begins again beyond this size; it is read at every start. */
const logBytesDefault = 32 * 1024 * 1024;

/**
 * The objects of a control plane in one SQLite file, with a commit log and a high-water mark beside it. One
 * process holds it at a time, by a lock that dies with the process.
 *
 * A commit is written to the log and to the database, and made durable by one sync of the log. At the start
 * the database gets what only the log has, so that the two repair each other; what neither has is damage, and
 * refused.
 */
export class SqliteJournal implements Journal {
  readonly revision: number;
  /** Held only until they are taken, so that the objects of the start do not live as long as the journal. */
  #loaded: readonly JournalEntry[];
  readonly #directory: string;
  readonly #log: Logger;
  readonly #database: DatabaseSync;
  readonly #commits: CommitLog;
  readonly #mark: HighWaterMark;
  readonly #writer: RecordWriter;
  readonly #logBytesMax: number;
  /** Set when it is unknown what the disk holds; nothing is written after that. */
  #failure: unknown;

  constructor(directory: string, log: Logger, logBytesMax: number = logBytesDefault) {
    const loaded: JournalEntry[] = [];
    const { database, log: commits, head, notes } = openStore(directory, (row) => loaded.push(entryOf(row)));
    for (const note of notes) log.info("Prepared the store", { directory, note });
    this.#loaded = loaded;
    this.#log = log;
    this.#logBytesMax = logBytesMax;
    this.revision = head.revision;
    this.#database = database;
    this.#commits = commits;
    this.#writer = new RecordWriter(database, head);
    this.#directory = directory;
    this.#mark = openMark(directory, head, log);
  }

  /** What was stored at the start; can be taken once. */
  get entries(): readonly JournalEntry[] {
    const loaded = this.#loaded;
    this.#loaded = [];
    return loaded;
  }

  commit(entries: readonly JournalEntry[]): void {
    if (this.#failure !== undefined) throw unusable(this.#failure);
    const commit = this.#write(entries);
    try {
      this.#commits.sync();
    } catch (error) {
      // After a failed sync it is unknown which pages are on the disk, and a second sync does not report it.
      this.#failure = error;
      throw unusable(error);
    }
    this.#writer.accept(commit);
    this.#mark.write(commit);
    if (this.#commits.length > this.#logBytesMax) this.#restartLog(commit);
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#database.close();
    this.#commits.close();
    this.#mark.close();
  }

  /** To the log and to the database, or to neither. */
  #write(entries: readonly JournalEntry[]): CommitRecord {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const entry of entries) this.#writeEntry(entry);
      const commit = this.#writer.seal(entries.at(-1)?.revision ?? this.#writer.head.revision);
      this.#commits.seal(commit);
      this.#database.exec("COMMIT");
      return commit;
    } catch (error) {
      this.#abandon();
      throw isDiskFull(error) ? diskFull(this.#directory, error) : error;
    }
  }

  #abandon(): void {
    // SQLite may have rolled back by itself (disk full); then there is no transaction to end.
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.#writer.abandon();
    try {
      this.#commits.abandon();
    } catch (error) {
      this.#failure = error;
    }
  }

  #writeEntry({ prefix, path, revision, object, isNew }: JournalEntry): void {
    const value = object === undefined ? "" : encodeJson(object);
    const sum = recordSum(prefix, path, revision, value);
    if (object === undefined) this.#writer.delete(prefix, path);
    else this.#writer.put({ prefix, path, revision, value, sum }, isNew);
    this.#commits.add(formatChange(prefix, path, revision, value, sum));
  }

  #restartLog(commit: CommitRecord): void {
    try {
      checkpoint(this.#database);
      this.#commits.restart(commit);
    } catch (error) {
      this.#log.error("Cannot restart the commit log; it goes on growing", { error });
    }
  }
}

/** It is a witness of what log and database have; on a full disk that of the last run is as good. */
function openMark(directory: string, head: CommitRecord, log: Logger): HighWaterMark {
  const mark = new HighWaterMark(filesOf(directory).mark);
  try {
    mark.write(head);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    log.warn("Could not write the high-water mark", { error });
  }
  return mark;
}

function entryOf({ prefix, path, revision, value }: StoredChange): JournalEntry {
  // Its checksum is right, so it is the text that was written.
  return { prefix, path, revision, object: decodeJson(value) as UnstructuredObject };
}

function unusable(cause: unknown): SetpointError {
  const message =
    "Cannot write to the store: an earlier write failed in a way that leaves the disk unknown; start again";
  return new SetpointError("ERR_STORE_UNUSABLE", message, { cause });
}
