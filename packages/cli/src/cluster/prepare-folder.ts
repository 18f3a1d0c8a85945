import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";

/** Makes a folder that can be written to; `what` names it in the sentence that says why that cannot be. */
export function prepareFolder(what: string, folder: string): void {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const message = `Cannot use "${folder}" as ${what}: it must be a folder that can be written to`;
    throw new SetpointError("ERR_FOLDER", message, { cause });
  }
}

/** Not Node's own way of making parents: in a file system where nothing can be made, such as /proc, that never ends. */
function makeFolder(folder: string): void {
  const parent = dirname(folder);
  if (!existsSync(parent) && parent !== folder) makeFolder(parent);
  // Fails with a word of its own where there is a file.
  if (!existsSync(folder) || !statSync(folder).isDirectory()) mkdirSync(folder);
}
