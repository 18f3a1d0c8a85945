/** The errors of opening a store. */
import { dirname } from "node:path";
import { SetpointError } from "@setpoint/apimachinery";
import { fullDiskText, isDiskFull } from "./disk-room.ts";

/** SQLite's primary result codes that we tell apart. */
const sqliteBusy = 5;
const sqliteLocked = 6;
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;

/** SQLite's primary result code, when the error is SQLite's. */
function primaryCode(error: unknown): number | undefined {
  const code = (error as { readonly errcode?: unknown }).errcode;
  // Extended codes carry the primary one in the low byte.
  return typeof code === "number" ? code & 0xff : undefined;
}

/** Whether SQLite reports a damaged file or a file that is no database. */
export function isCorruption(error: unknown): boolean {
  const code = primaryCode(error);
  return code === sqliteCorrupt || code === sqliteNotADatabase;
}

/** The error with Setpoint's own code and message, when it is an expected one. */
export function openError(error: unknown, directory: string): unknown {
  const code = primaryCode(error);
  if (isDiskFull(error)) return diskFull(directory, error);
  if (code !== sqliteBusy && code !== sqliteLocked) return error;
  const message = `Cannot open the data directory "${directory}": another process uses it; stop that process or choose another directory`;
  return new SetpointError("ERR_DATA_DIR_IN_USE", message, { cause: error });
}

/** Nothing can be written to the store. */
export function diskFull(directory: string, cause: unknown): SetpointError {
  return new SetpointError("ERR_DISK_FULL", `Cannot write to the store: ${fullDiskText(directory)}`, { cause });
}

export function unknownVersion(path: string, found: number, known: number): SetpointError {
  const message = `Cannot open "${path}": its layout has version ${found}, this program reads version ${known}`;
  return new SetpointError("ERR_DATA_DIR_VERSION", message);
}

/** How many findings a message lists; `setpoint store check` lists all. */
const findingsShownMax = 10;

/** The store is damaged: nothing of it is served. */
export function damaged(directory: string, findings: readonly string[], cause?: unknown): SetpointError {
  const shown = findings.slice(0, findingsShownMax).map((each) => `\n  ${each}`);
  const rest = findings.length - shown.length;
  const more = rest > 0 ? `\n  and ${rest} more` : "";
  // The command wants the data directory, in which the store has a folder.
  const advice = `Run "setpoint store check --data-dir ${dirname(directory)}" for all findings, then "setpoint store repair" or "setpoint store restore".`;
  const message = `Cannot serve the store in "${directory}": it is damaged:${shown.join("")}${more}\n${advice}`;
  return new SetpointError("ERR_DATA_DIR_CORRUPT", message, { cause });
}
