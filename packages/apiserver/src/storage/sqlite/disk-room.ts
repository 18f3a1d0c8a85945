/** What is left of the disk that a folder is on. */
import { statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Room on a file system. */
export interface DiskRoom {
  readonly freeBytes: number;
  /** How many more files it takes; infinite where the file system does not count them. */
  readonly freeFiles: number;
  /** The topmost folder of the file system. */
  readonly mountPoint: string;
}

/** What this user may still write to the file system of an existing folder. */
export function diskRoom(folder: string): DiskRoom {
  const { bsize, bavail, bfree, ffree, files } = statfsSync(folder);
  // Some blocks are for root alone.
  const blocks = process.getuid?.() === 0 ? bfree : bavail;
  return {
    freeBytes: blocks * bsize,
    freeFiles: files === 0 ? Number.POSITIVE_INFINITY : ffree,
    mountPoint: mountPointOf(resolve(folder)),
  };
}

function mountPointOf(folder: string): string {
  const parent = dirname(folder);
  return parent === folder || statSync(parent).dev !== statSync(folder).dev ? folder : mountPointOf(parent);
}

/** What a person has to know of a disk without room: which one, how much is left, and what to do. */
export function fullDiskText(folder: string): string {
  const { freeBytes, freeFiles, mountPoint } = diskRoom(folder);
  const left = freeFiles < 1 ? `${freeBytes} bytes and no file` : `${freeBytes} bytes`;
  return `the disk of "${folder}" is full: the file system at "${mountPoint}" has ${left} left; delete what is not needed there, or enlarge it`;
}

/** Whether a write failed because the disk, or what this user may have of it, is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  // SQLite's primary result code FULL.
  const isSqliteFull = typeof errcode === "number" && (errcode & 0xff) === 13;
  return code === "ENOSPC" || code === "EDQUOT" || isSqliteFull || isDiskFull(error.cause);
}
