/**
 * Removes what a pod left, however deep and however protected. Node's own function is quick, but a pod can
 * make folders deeper than a path may be long, and an ordinary user's pod folders without rights: then
 * programs that need no paths do it.
 */
import { execFile } from "node:child_process";
import { lstatSync } from "node:fs";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Nothing happens when there is nothing. Rejects when something is left. */
export async function removeTree(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await run("/bin/chmod", ["-R", "u+rwX", "--", path], { env: {} });
    await run("/bin/rm", ["-rf", "--one-file-system", "--", path], { env: {} });
  }
}
