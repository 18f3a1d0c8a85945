/**
 * Paths that a pod's author or a pod itself chose, beneath a volume. What is found here is found once more by
 * the kernel when the path is mounted (`sandbox/stage.ts`), because a container may change the volume in
 * between.
 */
import { isSetpointError, messageOf } from "@setpoint/apimachinery";
import { lstatSync } from "node:fs";
import { isAbsolute } from "node:path/posix";
import { nodeError } from "../errors.ts";
import { TreeWalk, type WalkRules } from "../host/tree-walk.ts";

/**
 * The parts of `path` without links, joined: links that stay beneath the volume (as those of a ConfigMap's
 * files) are followed. Throws ERR_CONTAINER_CONFIG for a path, or a link on it, that leads out.
 */
export function pathBeneath(volume: string, path: string): string {
  if (isAbsolute(path)) throw unusable(path, "it is absolute");
  if (path.split("/").includes("..")) throw unusable(path, 'it contains ".."');
  using walk = walkTo(volume, path, { links: "beneath" });
  return walk.path.slice(1);
}

/**
 * Whether what lies at the path, in a folder of the node or beneath a volume, is mounted as a folder. A
 * subPath that is missing becomes one, as upstream. What a link names is not mounted.
 */
export function isMountedAsFolder(source: string, subPath?: string): boolean {
  if (subPath === undefined) return lstatSync(source, { throwIfNoEntry: false })?.isDirectory() ?? true;
  using walk = walkTo(source, subPath, { links: "none" });
  if (walk.entry === undefined) return true;
  return walk.entry.parent.stat(walk.entry.name)?.isDirectory() ?? true;
}

function walkTo(volume: string, path: string, rules: WalkRules): TreeWalk {
  try {
    return TreeWalk.to(volume, path, rules);
  } catch (error) {
    if (!isSetpointError(error, "ERR_PATH_REFUSED")) throw error;
    throw unusable(path, messageOf(error));
  }
}

function unusable(path: string, why: string): Error {
  return nodeError("ERR_CONTAINER_CONFIG", `failed to prepare subPath "${path}": ${why}`);
}
