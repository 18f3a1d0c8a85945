/** Files that only their owner may read, because every Secret is in them. */
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const rightsOfOthers = 0o077;

/**
 * Makes an empty file where there is none. SQLite would give its files the rights that the process's umask
 * allows, and what it makes beside a database has the rights of the database. A file that exists is not
 * opened: closing it would end the locks that this process holds on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  chmodSync(path, 0o600);
}

/** Makes the folder where there is none, and takes the rights of others from its files. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile() && (statSync(path).mode & rightsOfOthers) !== 0) chmodSync(path, 0o600);
  }
}
