/** Reads a commit log, and distinguishes an unfinished commit from damage. */
import { closeSync, openSync, readSync } from "node:fs";
import { recordSum } from "./checksum.ts";
import { logMagic } from "./commit-log.ts";
import { type CommitRecord, follows, parseCommit } from "./commit-record.ts";

/** One change of a key, with its value as text; no value is a deletion. */
export interface StoredChange {
  readonly prefix: string;
  readonly path: string;
  readonly revision: number;
  readonly value: string;
  readonly sum: string;
}

export interface LoggedCommit {
  readonly commit: CommitRecord;
  readonly changes: readonly StoredChange[];
}

export interface LogContents {
  /** The state that the log begins after; absent when its first line is damaged. */
  readonly base: CommitRecord | undefined;
  /** The unbroken run of commits after the base. */
  readonly commits: readonly LoggedCommit[];
  /** The length of the file up to the end of that run. */
  readonly length: number;
  /**
   * Number of the first line that is damaged, or does not continue the run. A commit that was never finished
   * is none.
   */
  readonly damagedLine: number | undefined;
  /** The newest commit that is sound by itself, also behind damage. */
  readonly newest: CommitRecord | undefined;
  /** Changes that are sound by themselves but not in the run. */
  readonly stray: readonly StoredChange[];
}

const newline = 10;
const readBytes = 1024 * 1024;

/**
 * The complete lines of a file, each with the offset behind its end. What follows the last end of a line is
 * left out.
 */
function* linesOf(path: string): Generator<{ readonly text: string; readonly end: number }> {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(readBytes);
    let parts: Buffer[] = [];
    let offset = 0;
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      let start = 0;
      for (let at = chunk.indexOf(newline); at !== -1 && at < read; at = chunk.indexOf(newline, start)) {
        const text = Buffer.concat([...parts, chunk.subarray(start, at)]).toString();
        parts = [];
        start = at + 1;
        yield { text, end: offset + start };
      }
      if (start < read) parts.push(Buffer.from(chunk.subarray(start, read)));
      offset += read;
    }
  } finally {
    closeSync(file);
  }
}

function parseChange(text: string): StoredChange | undefined {
  const [kind, sum = "", revisionText, prefixText = "", pathText = "", value = "", ...more] = text.split("\t");
  if (kind !== "change" || more.length > 0) return undefined;
  try {
    const prefix: unknown = JSON.parse(prefixText);
    const path: unknown = JSON.parse(pathText);
    const revision = Number(revisionText);
    if (typeof prefix !== "string" || typeof path !== "string") return undefined;
    return recordSum(prefix, path, revision, value) === sum ? { prefix, path, revision, value, sum } : undefined;
  } catch {
    return undefined;
  }
}

/** Groups the lines of a log into commits. */
class LogReader {
  base: CommitRecord | undefined;
  newest: CommitRecord | undefined;
  length = 0;
  damagedLine: number | undefined;
  readonly commits: LoggedCommit[] = [];
  readonly stray: StoredChange[] = [];
  #changes: StoredChange[] = [];
  #line = 0;

  read(text: string, end: number): void {
    this.#line++;
    if (this.#line === 1) this.#readHeader(text, end);
    else if (text.startsWith("commit\t")) this.#readCommit(text.slice("commit\t".length), end);
    else this.#readChange(text);
  }

  /** Changes at the end that no commit sealed: the process ended while it wrote them. */
  finish(): LogContents {
    const { base, commits, length, damagedLine, newest, stray } = this;
    return { base, commits, length, damagedLine: this.#line === 0 ? 1 : damagedLine, newest, stray };
  }

  #readHeader(text: string, end: number): void {
    this.base = text.startsWith(`${logMagic}\t`) ? parseCommit(text.slice(logMagic.length + 1)) : undefined;
    this.newest = this.base;
    if (this.base === undefined) this.#damage();
    else this.length = end;
  }

  #readChange(text: string): void {
    const change = parseChange(text);
    if (change === undefined) this.#damage();
    else this.#changes.push(change);
  }

  #readCommit(text: string, end: number): void {
    const commit = parseCommit(text);
    const last = this.commits.at(-1)?.commit ?? this.base;
    const continues = commit !== undefined && last !== undefined && follows(commit, last);
    if (!continues) this.#damage();
    if (commit !== undefined && commit.sequence > (this.newest?.sequence ?? -1)) this.newest = commit;
    if (this.damagedLine !== undefined || commit === undefined) this.stray.push(...this.#changes);
    else {
      this.commits.push({ commit, changes: this.#changes });
      this.length = end;
    }
    this.#changes = [];
  }

  #damage(): void {
    this.damagedLine ??= this.#line;
  }
}

/** Reads a log as far as it is sound. Throws only what the file system throws. */
export function readLog(path: string): LogContents {
  const reader = new LogReader();
  for (const { text, end } of linesOf(path)) reader.read(text, end);
  return reader.finish();
}
