/** One builder at a time for one image, over all processes that share the cache. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Clock, sleep } from "@setpoint/host";

const pollMs = 200;

/** Runs `task` while holding the lock file `path`; a lock whose process is gone is taken over. */
export async function withBuildLock<T>(
  clock: Clock,
  path: string,
  task: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  mkdirSync(dirname(path), { recursive: true });
  while (!tryLock(path)) await sleep(clock, pollMs, signal);
  try {
    return await task();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    if (!isAbandoned(path)) return false;
    rmSync(path, { force: true });
    return false;
  }
}

function isAbandoned(path: string): boolean {
  try {
    const text = readFileSync(path, "utf8");
    // Empty: its owner is between creating and writing it.
    return text !== "" && !isAlive(Number(text));
  } catch {
    return false;
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
