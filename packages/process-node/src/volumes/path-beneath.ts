/**
 * Paths that a pod's author or a pod itself chose, beneath a volume. What is checked here is checked once
 * more by the kernel when the path is mounted (`sandbox/stage.ts`), because a container may change the volume
 * in between.
 */
import { lstatSync, readlinkSync } from "node:fs";
import { isAbsolute, join } from "node:path/posix";
import { nodeError } from "../errors.ts";

const linksMax = 40;

/**
 * The parts of `path` without links, joined: links that stay beneath the volume (as those of a ConfigMap's
 * files) are followed. Throws ERR_CONTAINER_CONFIG for a path, or a link on it, that leads out.
 */
export function pathBeneath(volume: string, path: string): string {
  if (isAbsolute(path)) throw leadsOut(path, "it is absolute");
  let pending = partsOf(path);
  if (pending.includes("..")) throw leadsOut(path, 'it contains ".."');
  const resolved: string[] = [];
  for (let links = 0; pending.length > 0;) {
    const [part = "", ...rest] = pending;
    pending = rest;
    const text = part === ".." ? undefined : linkText(join(volume, ...resolved, part));
    if (part === "..") {
      if (resolved.pop() === undefined) throw leadsOut(path, "a link on it leads out of the volume");
    } else if (text === undefined) resolved.push(part);
    else if (isAbsolute(text) || ++links > linksMax) throw leadsOut(path, "a link on it leads out of the volume");
    else pending = [...partsOf(text), ...pending];
  }
  return resolved.join("/");
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function linkText(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function leadsOut(path: string, why: string): Error {
  return nodeError("ERR_CONTAINER_CONFIG", `failed to prepare subPath "${path}": ${why}`);
}
