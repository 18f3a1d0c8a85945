import { rmdir, unlink } from "node:fs/promises";
import { depthMax } from "./tree-walk.ts";
import type { OpenFolder } from "./open-folder.ts";

/** Each level holds a folder open. Images are less deep. */
const levelsMax = 2 * depthMax;

/**
 * Removes the entry with everything in it, and follows no link, also when the tree changes meanwhile. Nothing
 * happens when it is missing. Rejects for a tree deeper than this process may hold folders open.
 */
export async function removeEntry(
  parent: OpenFolder,
  name: string,
  signal?: AbortSignal,
  levelsLeft: number = levelsMax,
): Promise<void> {
  signal?.throwIfAborted();
  using folder = parent.folder(name);
  if (folder === undefined) return unlink(parent.entry(name)).catch(unlessMissing);
  if (levelsLeft === 0)
    throw new Error(`Cannot remove "${name}": it has more than ${levelsMax} folders inside each other`);
  for (const each of folder.entries()) {
    if (each.isDirectory()) await removeEntry(folder, each.name, signal, levelsLeft - 1);
    else await unlink(folder.entry(each.name)).catch(unlessMissing);
  }
  await rmdir(parent.entry(name)).catch(unlessMissing);
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
