/** The files of one store. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { commitLogName } from "./commit-log.ts";
import { type CommitRecord, firstCommit } from "./commit-record.ts";
import { highWaterMarkName, readHighWaterMark } from "./high-water-mark.ts";
import { type LogContents, readLog } from "./read-log.ts";
import { databaseName } from "./store-database.ts";

export interface StoreFiles {
  readonly directory: string;
  readonly database: string;
  readonly log: string;
  readonly mark: string;
}

export function filesOf(directory: string): StoreFiles {
  return {
    directory,
    database: join(directory, databaseName),
    log: join(directory, commitLogName),
    mark: join(directory, highWaterMarkName),
  };
}

/** What the log and the mark record of the database's commits. */
export interface Witnesses {
  /** Absent when there is no log. */
  readonly log: LogContents | undefined;
  /** Absent when there is no mark, or it is damaged. */
  readonly mark: CommitRecord | undefined;
}

export function readWitnesses(files: StoreFiles): Witnesses {
  return { log: existsSync(files.log) ? readLog(files.log) : undefined, mark: readHighWaterMark(files.mark) };
}

/** The commit with the highest number. */
export function newestOf(...commits: readonly (CommitRecord | undefined)[]): CommitRecord | undefined {
  return commits.filter((each) => each !== undefined).toSorted((a, b) => b.sequence - a.sequence)[0];
}

/** The newest commit that log and mark know of, when the store was written to. */
export function knownCommit({ log, mark }: Witnesses): CommitRecord | undefined {
  const newest = newestOf(log?.newest, mark);
  return newest === undefined || newest.sequence === 0 ? undefined : newest;
}

/** Whether the log begins with the store's first commit, so that it holds everything. */
export function isWholeHistory({ log }: Witnesses): boolean {
  return log?.base?.hash === firstCommit.hash;
}
