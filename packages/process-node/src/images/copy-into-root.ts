/**
 * Lays files of the host over a root file system. What its links lead to is inside of it: `/var/run` of
 * Debian is a link to `/run`.
 */
import { chmodSync, constants, copyFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path/posix";
import type { ImageFile } from "./image.ts";
import { makeFolderInRoot, placeInRoot } from "./root-path.ts";

const modeBits = 0o7777;
const copyMode = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;

/** Copies what `from` and the links in it lead to; files that are in the way are replaced. */
export function copyIntoRoot(root: string, { from, to }: ImageFile): void {
  const stat = statSync(from);
  if (!stat.isDirectory()) {
    return placeInRoot(root, to, (folder, name) => {
      rmSync(folder.entry(name), { recursive: true, force: true });
      copyFileSync(from, folder.entry(name), copyMode);
    });
  }
  using walk = makeFolderInRoot(root, to);
  const { folder, path } = walk;
  if (folder === undefined) return;
  if (path !== "/") chmodSync(folder.self, stat.mode & modeBits);
  for (const name of readdirSync(from)) copyIntoRoot(root, { from: join(from, name), to: join(path, name) });
}
