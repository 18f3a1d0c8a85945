import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

export interface LogFile {
  readonly write: (line: string) => void;
  readonly close: () => void;
}

/** A file that log lines are appended to; started anew, so that it does not grow without end. */
export function openLog(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "w", 0o600);
  return { write: (line) => void writeSync(file, line), close: () => closeSync(file) };
}
