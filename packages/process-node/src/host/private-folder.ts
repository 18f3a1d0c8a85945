/** Folders that only the user of the node can enter. */
import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { nodeError } from "../errors.ts";

/**
 * Creates the folder, or removes the rights of other users from an existing one. Throws ERR_FOLDER_UNSAFE.
 */
export function preparePrivateFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const { uid } = lstatSync(path);
  if (!lstatSync(path).isDirectory() || uid !== (process.getuid?.() ?? uid)) {
    throw nodeError("ERR_FOLDER_UNSAFE", `Cannot use folder "${path}": it belongs to another user; remove it`);
  }
  chmodSync(path, 0o700);
}
