/**
 * Lock files of a server that was killed. PostgreSQL takes a process that has got its number since for the
 * server and does not start: likely in a container, where numbers are few.
 */
import { readFileSync, rmSync } from "node:fs";

/** Removes those of `files` whose first line is no process called postgres. */
export function removeStaleLocks(files: readonly string[], nameOf: (pid: number) => string | undefined): void {
  for (const file of files) {
    const pid = Number.parseInt(textOf(file) ?? "", 10);
    if (Number.isInteger(pid) && nameOf(Math.abs(pid)) !== "postgres") rmSync(file, { force: true });
  }
}

/** What the process with this number runs; undefined when there is none. */
export function processName(pid: number): string | undefined {
  return textOf(`/proc/${pid}/comm`)?.trim();
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
