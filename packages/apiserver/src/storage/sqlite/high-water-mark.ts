/**
 * The number of the newest acknowledged commit, in a small file of its own. It is written after every commit
 * but never synced: it costs microseconds, survives the end of the process, and is behind by some seconds
 * after a loss of power. It is a lower bound, and tells when database and log have both lost the same
 * commits.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { type CommitRecord, formatCommit, parseCommit } from "./commit-record.ts";

/** The file's name, in the directory of the database. */
export const highWaterMarkName = "state.mark";

/** Two places in turn, so that a write that is cut short leaves the other one. */
const slotBytes = 256;

export class HighWaterMark {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const blank = `${" ".repeat(slotBytes - 1)}\n`.repeat(2);
    if (fstatSync(this.#file).size !== blank.length) {
      ftruncateSync(this.#file, 0);
      writeSync(this.#file, blank, 0);
    }
  }

  write(commit: CommitRecord): void {
    const slot = commit.sequence % 2;
    writeSync(this.#file, `${formatCommit(commit).padEnd(slotBytes - 1)}\n`, slot * slotBytes);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Absent when there is no such file, or both of its places are damaged. */
export function readHighWaterMark(path: string): CommitRecord | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const marks = text.split("\n").flatMap((line) => parseCommit(line.trimEnd()) ?? []);
  return marks.toSorted((a, b) => b.sequence - a.sequence)[0];
}
