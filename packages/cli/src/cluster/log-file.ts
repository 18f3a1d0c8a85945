import { closeSync, constants, existsSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Each write goes to the end: the watchdog's thread has lines for the file, too. */
const { O_APPEND, O_CREAT, O_TRUNC, O_WRONLY } = constants;
const freshForAppending = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;

export interface LogFile {
  readonly write: (line: string) => void;
  readonly close: () => void;
}

/** A new file that log lines are appended to; the one of the run before is kept beside it as `PATH.1`. */
export function openLog(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path)) renameSync(path, `${path}.1`);
  const file = openSync(path, freshForAppending, 0o600);
  return { write: (line) => void writeSync(file, line), close: () => closeSync(file) };
}
