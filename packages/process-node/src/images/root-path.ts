/**
 * Paths inside a root file system that is not ours: symlinks there are followed as a process inside would
 * follow them.
 */
import { accessSync, constants, lstatSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path/posix";

const symlinkHopsMax = 40;

/**
 * The canonical path of `path` inside `root` (both absolute, the result as seen from inside); it need not
 * exist.
 */
export function resolveInRoot(root: string, path: string): string {
  let pending = path.split("/").filter((part) => part !== "" && part !== ".");
  let resolved: string[] = [];
  let hops = 0;
  while (pending.length > 0) {
    const [part = "", ...rest] = pending;
    pending = rest;
    if (part === "..") {
      resolved = resolved.slice(0, -1);
      continue;
    }
    const target = hops < symlinkHopsMax ? linkTarget(join(root, ...resolved, part)) : undefined;
    if (target === undefined) {
      resolved.push(part);
      continue;
    }
    hops++;
    if (target.startsWith("/")) resolved = [];
    pending = [...target.split("/").filter((piece) => piece !== "" && piece !== "."), ...pending];
  }
  return `/${resolved.join("/")}`;
}

/**
 * Where `program` is found inside `root`, by the PATH given; undefined when it is not there or cannot be
 * executed.
 */
export function findProgram(root: string, program: string, searchPath: string): string | undefined {
  const candidates = program.includes("/") ? [program] : searchPath.split(":").map((folder) => join(folder, program));
  return candidates.find((candidate) => isExecutable(join(root, resolveInRoot(root, candidate))));
}

function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
