/**
 * The text files that only one container has (hosts, resolv.conf, …): files of the host, bound one by one.
 */
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes the texts that changed; answers target → path on the host. With `known`, only targets in it are
 * written.
 */
export function writeOwnFiles(
  folder: string,
  files: Readonly<Record<string, string>>,
  known?: Readonly<Record<string, string>>,
): Record<string, string> {
  const paths: Record<string, string> = {};
  for (const [target, text] of Object.entries(files)) {
    if (known !== undefined && known[target] === undefined) continue;
    const path = join(folder, target.replaceAll("/", "_"));
    if (readText(path) !== text) overwrite(path, text);
    paths[target] = path;
  }
  return paths;
}

/** In place: a container sees the inode that was bound into it, not a file that took its name. */
function overwrite(path: string, text: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o644);
  try {
    ftruncateSync(file, writeSync(file, text, 0));
  } finally {
    closeSync(file);
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
