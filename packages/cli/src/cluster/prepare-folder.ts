import { accessSync, constants, mkdirSync } from "node:fs";
import { SetpointError } from "@setpoint/apimachinery";

/** Makes a folder that can be written to; `what` names it in the sentence that says why that cannot be. */
export function prepareFolder(what: string, folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    const message = `Cannot use "${folder}" as ${what}: it must be a folder that can be written to`;
    throw new SetpointError("ERR_FOLDER", message, { cause });
  }
}
