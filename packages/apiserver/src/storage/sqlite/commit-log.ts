/**
 * The second copy of recent commits, in a file of its own beside the database: one line a change, one line
 * that seals the commit, each with its checksum. An acknowledged write is in it and synced, so it holds the
 * high-water mark that the database's own log is compared with at the start, and the values to repair the
 * database from.
 */
import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { type CommitRecord, formatCommit } from "./commit-record.ts";

/** The file's name, in the directory of the database. */
export const commitLogName = "state.log";

/** Text is gathered up to this length before it is written, so that a large group is not held twice. */
const pendingLengthMax = 1024 * 1024;

export const logMagic = "setpoint-store-log 1";

/** One change as a line. `value` is empty for a deletion. */
export function formatChange(prefix: string, path: string, revision: number, value: string, sum: string): string {
  return `change\t${sum}\t${revision}\t${JSON.stringify(prefix)}\t${JSON.stringify(path)}\t${value}\n`;
}

export class CommitLog {
  readonly #path: string;
  #file: number;
  /** The length of the file up to the last commit. */
  #length: number;
  /** Where the next byte goes; beyond the length while a commit is being written. */
  #position: number;
  #pending: string[] = [];
  #pendingLength = 0;

  private constructor(path: string, file: number, length: number) {
    this.#path = path;
    this.#file = file;
    this.#length = length;
    this.#position = length;
  }

  /** Creates a new log that starts after `base` and replaces an existing one; durable when it returns. */
  static create(path: string, base: CommitRecord): CommitLog {
    const draft = `${path}.new`;
    const file = openSync(draft, "w", 0o600);
    const header = Buffer.from(`${logMagic}\t${formatCommit(base)}\n`);
    writeAll(file, header, 0);
    fsyncSync(file);
    renameSync(draft, path);
    syncFolder(dirname(path));
    return new CommitLog(path, file, header.length);
  }

  /** Continues a log; cuts off what follows `length`. */
  static open(path: string, length: number): CommitLog {
    const file = openSync(path, "r+");
    ftruncateSync(file, length);
    return new CommitLog(path, file, length);
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a line to the current commit. */
  add(line: string): void {
    this.#pending.push(line);
    this.#pendingLength += line.length;
    if (this.#pendingLength > pendingLengthMax) this.#write();
  }

  /** Writes what seals the commit; durable only after `sync`. */
  seal(commit: CommitRecord): void {
    this.add(`commit\t${formatCommit(commit)}\n`);
    this.#write();
  }

  /** Makes the sealed commit durable. */
  sync(): void {
    fdatasyncSync(this.#file);
    this.#length = this.#position;
  }

  /** Rolls back the current commit. */
  abandon(): void {
    this.#pending = [];
    this.#pendingLength = 0;
    if (this.#position === this.#length) return;
    ftruncateSync(this.#file, this.#length);
    this.#position = this.#length;
  }

  /** Begins again after `base`. The old file stays when this throws. */
  restart(base: CommitRecord): void {
    const next = CommitLog.create(this.#path, base);
    closeSync(this.#file);
    this.#file = next.#file;
    this.#length = next.#length;
    this.#position = next.#length;
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(): void {
    const bytes = Buffer.from(this.#pending.join(""));
    this.#pending = [];
    this.#pendingLength = 0;
    writeAll(this.#file, bytes, this.#position);
    this.#position += bytes.length;
  }
}

function writeAll(file: number, bytes: Buffer, position: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done, position + done);
}

/** A new name is durable when its folder is. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
