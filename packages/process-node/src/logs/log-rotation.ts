/**
 * Keeps the logs of running containers small: a file that is large becomes the rotated one, and its writer
 * begins another.
 */
import { renameSync, statSync } from "node:fs";
import { rotatedFile } from "./container-log.ts";

/** A log is rotated when it is larger; one rotated file is kept beside it. */
export const logFileBytesMax: number = 10 * 1024 * 1024;

/** `reopen` makes the writer open the file by its name again. */
export function rotateLog(file: string, reopen: () => void): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= logFileBytesMax) return;
  renameSync(file, rotatedFile(file));
  reopen();
}
