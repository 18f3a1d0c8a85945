import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export interface LogFile {
  readonly write: (line: string) => void;
  readonly close: () => void;
}

/** A new file that log lines are appended to; the one of the run before is kept beside it as `PATH.1`. */
export function openLog(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  if (existsSync(path)) renameSync(path, `${path}.1`);
  const file = openSync(path, "w", 0o600);
  return { write: (line) => void writeSync(file, line), close: () => closeSync(file) };
}
