/** Puts a new store in the place of another one, so that an interruption at any moment can be continued. */
import { closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommitLog, syncFolder } from "./commit-log.ts";
import type { CommitRecord } from "./commit-record.ts";
import { HighWaterMark } from "./high-water-mark.ts";
import { createPrivateFile } from "./private-files.ts";
import type { Records } from "./salvage.ts";
import { createTables, RecordWriter } from "./store-database.ts";
import { filesOf } from "./store-files.ts";

const draftName = "new-store";
/** Its presence marks the draft as complete. */
const completeName = "complete";

/**
 * Replaces the store in `directory`; returns the folder with the old files. The caller knows that no server
 * uses it.
 */
export function replaceStore(directory: string, records: Records, head: CommitRecord): string {
  const draft = join(directory, draftName);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeDatabase(draft, records, head);
  CommitLog.create(filesOf(draft).log, head).close();
  const mark = new HighWaterMark(filesOf(draft).mark);
  mark.write(head);
  mark.close();
  sync(filesOf(draft).mark);
  closeSync(openSync(join(draft, completeName), "w", 0o600));
  syncFolder(draft);
  return finishReplacement(directory) ?? directory;
}

/** Continues a replacement that was interrupted; returns the folder with the old files when there was one. */
export function finishReplacement(directory: string): string | undefined {
  const draft = join(directory, draftName);
  if (!existsSync(join(draft, completeName))) return undefined;
  const aside = folderAside(directory);
  const [to, from] = [filesOf(directory), filesOf(draft)];
  // At each step the files do not fit together, so that a start in between would be refused.
  for (const name of ["log", "mark"] as const) {
    if (!existsSync(from[name])) continue;
    if (existsSync(to[name])) copyFileSync(to[name], join(aside, basename(to[name])));
    renameSync(from[name], to[name]);
  }
  if (existsSync(from.database)) {
    for (const old of [`${to.database}-wal`, `${to.database}-shm`, to.database])
      if (existsSync(old)) renameSync(old, join(aside, basename(old)));
    renameSync(from.database, to.database);
  }
  syncFolder(directory);
  rmSync(draft, { recursive: true });
  return aside;
}

function folderAside(directory: string): string {
  let number = 1;
  while (existsSync(join(directory, `replaced-${number}`))) number++;
  const folder = join(directory, `replaced-${number}`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

function writeDatabase(folder: string, records: Records, head: CommitRecord): void {
  const path = filesOf(folder).database;
  createPrivateFile(path);
  const database = new DatabaseSync(path);
  createTables(database, head);
  database.exec("BEGIN");
  const writer = new RecordWriter(database, head);
  for (const record of records.values()) writer.put(record, true);
  database.exec("COMMIT");
  database.close();
  sync(path);
}

function sync(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}
