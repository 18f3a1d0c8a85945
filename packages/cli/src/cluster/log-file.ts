import { closeSync, constants, existsSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Each write goes to the end: the watchdog's thread has lines for the file, too. */
const { O_APPEND, O_CREAT, O_TRUNC, O_WRONLY } = constants;
const freshForAppending = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;

export interface LogFile {
  readonly write: (line: string) => void;
  readonly close: () => void;
}

/** Every client's requests write lines; the log takes at most two files of this size. */
const bytesMax = 64 * 1_024 * 1_024;

/**
 * A new file that log lines are appended to; the one before, of an earlier run or grown to `bytesMaxOfFile`,
 * is kept beside it as `PATH.1`. `write` throws when the line cannot be written.
 */
export function openLog(path: string, bytesMaxOfFile: number = bytesMax): LogFile {
  mkdirSync(dirname(path), { recursive: true });
  let file = openFresh(path);
  let bytes = 0;
  return {
    write(line) {
      bytes += writeSync(file, line);
      if (bytes < bytesMaxOfFile) return;
      const next = openFresh(path);
      closeSync(file);
      file = next;
      bytes = 0;
    },
    close: () => closeSync(file),
  };
}

function openFresh(path: string): number {
  if (existsSync(path)) renameSync(path, `${path}.1`);
  return openSync(path, freshForAppending, 0o600);
}
