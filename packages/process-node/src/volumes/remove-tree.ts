/**
 * Removes what a pod left, however deep and however protected. It follows no link, also when something still
 * changes the tree. A pod can make folders deeper than this process may hold open, and an ordinary user's pod
 * folders without rights: then programs that need no paths do it.
 */
import { execFile } from "node:child_process";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { lstatSync } from "node:fs";
import { OpenFolder } from "../host/open-folder.ts";
import { removeEntry } from "../host/remove-entry.ts";

const run = promisify(execFile);

/** Nothing happens when there is nothing. Rejects when something is left. */
export async function removeTree(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  using parent = OpenFolder.at(dirname(path));
  try {
    await removeEntry(parent, basename(path));
  } catch {
    await run("/bin/chmod", ["-R", "u+rwX", "--", path], { env: {} });
    await run("/bin/rm", ["-rf", "--one-file-system", "--", path], { env: {} });
  }
}
