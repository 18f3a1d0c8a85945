/** One agent at a time for one directory. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeError } from "./errors.ts";
import { isAlive } from "./images/build-lock.ts";

/** Takes the directory; returns what gives it back. A lock whose process is gone is taken over. */
export function lockDirectory(directory: string): () => void {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "agent.pid");
  const owner = readOwner(path);
  if (owner !== undefined && owner !== process.pid && isAlive(owner)) {
    throw nodeError(
      "ERR_DIRECTORY_IN_USE",
      `Cannot use directory "${directory}": the node agent with process id ${owner} uses it`,
    );
  }
  writeFileSync(path, String(process.pid));
  return () => rmSync(path, { force: true });
}

function readOwner(path: string): number | undefined {
  try {
    return Number(readFileSync(path, "utf8")) || undefined;
  } catch {
    return undefined;
  }
}
