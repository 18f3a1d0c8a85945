/**
 * Paths inside a root file system that is not ours: symlinks there are followed as a process inside would
 * follow them. All of it throws ERR_PATH_REFUSED for a path with more links than Linux follows.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { isSetpointError, messageOf } from "@setpoint/apimachinery";
import { nodeError } from "../errors.ts";
import type { OpenFolder } from "../host/open-folder.ts";
import { TreeWalk } from "../host/tree-walk.ts";

const execute = 0o111;
/** A program is looked for in so many folders of PATH. */
const searchFoldersMax = 256;

/**
 * The canonical path of `path` inside `root` (both absolute, the result as seen from inside); it need not
 * exist.
 */
export function resolveInRoot(root: string, path: string): string {
  using walk = TreeWalk.to(root, path, { links: "root" });
  return walk.path;
}

/** Opens the file for reading; undefined when there is no regular file. Close the descriptor. */
export function openInRoot(root: string, path: string): number | undefined {
  using walk = TreeWalk.to(root, path, { links: "root" });
  if (walk.entry === undefined) return undefined;
  const { parent, name } = walk.entry;
  // A pipe would never open, so its kind is asked first and once more afterwards.
  if (parent.stat(name)?.isFile() !== true) return undefined;
  const file = openSync(parent.entry(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  return undefined;
}

/** Runs `look`; a path that is refused becomes an ERR_CONTAINER_CONFIG that names the image. */
export function inImage<T>(image: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    if (!isSetpointError(error, "ERR_PATH_REFUSED")) throw error;
    throw nodeError("ERR_CONTAINER_CONFIG", `Cannot use image "${image}": ${messageOf(error)}`, error);
  }
}

/** The folder inside of `root`, made with its parents when it is missing; `onMake` before each. Close it. */
export function makeFolderInRoot(root: string, path: string, onMake: () => void = () => {}): TreeWalk {
  return TreeWalk.to(root, path, { links: "root", makes: true, onMake });
}

/** Runs `make` with the folder and the name of the path inside of `root`; missing folders are made before. */
export function placeInRoot(root: string, path: string, make: (folder: OpenFolder, name: string) => void): void {
  using walk = makeFolderInRoot(root, dirname(path));
  if (walk.folder !== undefined) make(walk.folder, basename(path));
}

/**
 * Where `program` is found inside `root`, by the PATH given; undefined when it is not there or cannot be
 * executed.
 */
export function findProgram(root: string, program: string, searchPath: string): string | undefined {
  if (program.includes("/")) return isProgram(root, program) ? program : undefined;
  const folders = searchPath.split(":", searchFoldersMax);
  return folders.map((folder) => join(folder, program)).find((candidate) => isProgram(root, candidate));
}

function isProgram(root: string, path: string): boolean {
  using walk = TreeWalk.to(root, path, { links: "root" });
  const stat = walk.entry?.parent.stat(walk.entry.name);
  return stat?.isFile() === true && (stat.mode & execute) !== 0;
}
