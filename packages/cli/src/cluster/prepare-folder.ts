import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";

const stickyBit = 0o1000;

/** Makes a folder that can be written to; `what` names it in the sentence that says why that cannot be. */
export function prepareFolder(what: string, folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const isFile = existsSync(folder) && !statSync(folder).isDirectory();
    if (isFile)
      throw new SetpointError("ERR_FOLDER", `Cannot use "${folder}" as ${what}: it is a file, expected a folder`);
    const message = `Cannot use "${folder}" as ${what}: expected a writable folder`;
    throw new SetpointError("ERR_FOLDER", message, { cause });
  }
}

/**
 * As `prepareFolder`, for this user alone: keys and Secrets lie in it. Takes the rights of others from one
 * that is there.
 */
export function preparePrivateFolder(what: string, folder: string): void {
  prepareFolder(what, folder);
  if ((statSync(folder).mode & stickyBit) !== 0) {
    const message = `Cannot use "${folder}" as ${what}: all users share it; use a folder in it`;
    throw new SetpointError("ERR_FOLDER", message);
  }
  try {
    chmodSync(folder, 0o700);
  } catch (cause) {
    const message = `Cannot use "${folder}" as ${what}: it belongs to another user; use a folder of your own`;
    throw new SetpointError("ERR_FOLDER", message, { cause });
  }
}

/**
 * Not Node's own way of making parents: in a file system where nothing can be made, such as /proc, that never
 * ends.
 */
function makeFolder(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent) && parent !== folder) makeFolder(parent);
  // Fails with a word of its own where there is a file.
  if (!existsSync(folder) || !statSync(folder).isDirectory()) mkdirSync(folder);
}
