/**
 * The users and groups that an image knows. Its files are read as a process inside would find them, never the
 * host's.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path/posix";
import { nodeError } from "../errors.ts";
import { resolveInRoot } from "./root-path.ts";

export interface ImageUser {
  readonly name: string;
  readonly group: number;
}

/** Enough for tens of thousands of entries; what lies beyond is not looked at. */
const bytesMax = 1024 * 1024;

/** The user of this id in the image's /etc/passwd. */
export function imageUser(root: string, id: number): ImageUser | undefined {
  const found = entries(root, "/etc/passwd").find(([, , uid]) => Number(uid) === id);
  return found === undefined ? undefined : { name: found[0] ?? "", group: Number(found[3] ?? 0) };
}

/**
 * `USER` or `USER:GROUP` of an image's configuration as ids. Throws ERR_CONTAINER_CONFIG for a name that the
 * image does not know.
 */
export function configuredUser(root: string, text: string): { readonly user: number; readonly group?: number } {
  const [user = "", group = ""] = text.split(":");
  const uid = idOf(root, "/etc/passwd", user);
  return { user: uid, ...(group === "" ? {} : { group: idOf(root, "/etc/group", group) }) };
}

function idOf(root: string, file: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  const id = entries(root, file).find(([name]) => name === text)?.[2];
  if (id !== undefined && /^\d+$/.test(id)) return Number(id);
  throw nodeError(
    "ERR_CONTAINER_CONFIG",
    `the image runs as "${text}", which its ${file} does not name; set runAsUser`,
  );
}

/** The groups of the image's /etc/group that name the user as a member. */
export function imageGroups(root: string, name: string): readonly number[] {
  const isMember = (members: string | undefined): boolean => (members ?? "").split(",").includes(name);
  return entries(root, "/etc/group")
    .filter(([, , , members]) => isMember(members))
    .map(([, , id]) => Number(id))
    .filter(Number.isInteger);
}

function entries(root: string, path: string): readonly (readonly string[])[] {
  const text = readStart(join(root, resolveInRoot(root, path)));
  return text
    .split("\n")
    .filter((line) => line.includes(":"))
    .map((line) => line.split(":"));
}

function readStart(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    if (!fstatSync(file).isFile()) return "";
    const bytes = Buffer.alloc(bytesMax);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytesMax, 0));
  } finally {
    closeSync(file);
  }
}
