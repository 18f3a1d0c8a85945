/**
 * A folder whose files change all at once: they lie in a dated folder, `..data` points to it, and each file
 * is a link through `..data`. A reader sees the old set or the new one, as with a kubelet.
 */
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  lstatSync,
  readdirSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import type { Clock } from "@setpoint/host";
import { nodeError } from "../errors.ts";

export interface FolderFile {
  readonly data: string | Uint8Array;
  readonly mode?: number;
}

export type FolderContent = ReadonlyMap<string, FolderFile>;

export interface FolderOwner {
  readonly uid: number;
  readonly gid: number;
  /** The group is the pod's fsGroup, whose processes read the files whatever their mode. */
  readonly isGroupShared: boolean;
}

const defaultMode = 0o644;
const folderMode = 0o755;
const privateMode = 0o600;
const groupRead = 0o040;

/** As upstream: names that begin with ".." are those of this folder's own versions. */
function refuseWayOut(path: string): void {
  const parts = path.split("/");
  const why =
    path === "" || isAbsolute(path)
      ? "must be a relative path"
      : parts.includes("..")
        ? "must not contain '..'"
        : path.startsWith("..")
          ? "must not start with '..'"
          : undefined;
  if (why !== undefined)
    throw nodeError("ERR_CONTAINER_CONFIG", `Cannot write file "${path}" of a volume: the path ${why}`);
}

/**
 * `owner` gets everything; its group may read every file. Throws ERR_CONTAINER_CONFIG for a path that leaves
 * the folder.
 */
export function writeAtomicFolder(clock: Clock, folder: string, content: FolderContent, owner?: FolderOwner): void {
  for (const path of content.keys()) refuseWayOut(path);
  mkdirSync(folder, { recursive: true });
  const previous = currentVersion(folder);
  const version = freshVersion(clock, folder);
  const give = (path: string): void => owner && lchownSync(path, owner.uid, owner.gid);
  give(folder);
  const makeFolder = (path: string): void => {
    if (path === folder || existsSync(path)) return;
    makeFolder(dirname(path));
    mkdirSync(path);
    chmodSync(path, folderMode);
    give(path);
  };
  makeFolder(join(folder, version));
  for (const [path, file] of content) {
    const target = join(folder, version, path);
    makeFolder(dirname(target));
    writeFileSync(target, file.data, { mode: privateMode });
    // Not at its making, where the process's mask would take some of it.
    chmodSync(target, (file.mode ?? defaultMode) | (owner?.isGroupShared === true ? groupRead : 0));
    give(target);
  }
  symlinkSync(version, join(folder, "..data_tmp"));
  renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
  link(folder, new Set([...content.keys()].map((path) => path.split("/").find((part) => part !== "") ?? path)));
  if (previous !== undefined) rmSync(join(folder, previous), { recursive: true, force: true });
}

function link(folder: string, names: ReadonlySet<string>): void {
  for (const name of names) {
    if (lstatSync(join(folder, name), { throwIfNoEntry: false }) === undefined)
      symlinkSync(`..data/${name}`, join(folder, name));
  }
  for (const name of readdirSync(folder)) if (!name.startsWith("..") && !names.has(name)) rmSync(join(folder, name));
}

function currentVersion(folder: string): string | undefined {
  try {
    return readlinkSync(join(folder, "..data"));
  } catch {
    return undefined;
  }
}

function freshVersion(clock: Clock, folder: string): string {
  rmSync(join(folder, "..data_tmp"), { force: true });
  const date = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-T:]/g, "_");
  for (let i = 0; ; i++) {
    const version = `..${date}.${i}`;
    if (lstatSync(join(folder, version), { throwIfNoEntry: false }) === undefined) return version;
  }
}
