/**
 * The users and groups that an image knows. Its files are read as a process inside would find them, never the
 * host's.
 */
import { closeSync, readSync } from "node:fs";
import { nodeError } from "../errors.ts";
import { openInRoot } from "./root-path.ts";

export interface ImageUser {
  readonly name: string;
  readonly group: number;
}

/** Enough for tens of thousands of entries; what lies beyond is not looked at. */
const bytesMax = 1024 * 1024;

/** Of Kubernetes. Larger ones would be other ids to the kernel, 4294967296 the 0 of root. */
const idMax = 2_147_483_647;

/** The user of this id in the image's /etc/passwd. */
export function imageUser(root: string, id: number): ImageUser | undefined {
  for (const [name = "", , uid = "", gid = ""] of entries(root, "/etc/passwd")) {
    const group = parseId(gid);
    if (parseId(uid) === id && group !== undefined) return { name, group };
  }
  return undefined;
}

/**
 * `USER` or `USER:GROUP` of an image's configuration as ids. Throws ERR_CONTAINER_CONFIG for a name that the
 * image does not know, and for an id that is none.
 */
export function configuredUser(root: string, text: string): { readonly user: number; readonly group?: number } {
  const [user = "", group = ""] = text.split(":");
  const uid = idOf(root, "/etc/passwd", user);
  return { user: uid, ...(group === "" ? {} : { group: idOf(root, "/etc/group", group) }) };
}

function idOf(root: string, file: string, text: string): number {
  const isNumber = /^\d+$/.test(text);
  const id = parseId(isNumber ? text : (entries(root, file).find(([name]) => name === text)?.[2] ?? ""));
  if (id !== undefined) return id;
  const why = isNumber ? `expected at most ${idMax}` : `which its ${file} does not name`;
  throw nodeError("ERR_CONTAINER_CONFIG", `the image runs as ${JSON.stringify(text)}, ${why}; set runAsUser`);
}

/** The groups of the image's /etc/group that name the user as a member. */
export function imageGroups(root: string, name: string): readonly number[] {
  const isMember = (members: string | undefined): boolean => (members ?? "").split(",").includes(name);
  return entries(root, "/etc/group")
    .filter(([, , , members]) => isMember(members))
    .map(([, , id = ""]) => parseId(id))
    .filter((id) => id !== undefined);
}

function parseId(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) && Number(text) <= idMax ? Number(text) : undefined;
}

function entries(root: string, path: string): readonly (readonly string[])[] {
  return readStart(root, path)
    .split("\n")
    .filter((line) => line.includes(":"))
    .map((line) => line.split(":"));
}

function readStart(root: string, path: string): string {
  const file = openInRoot(root, path);
  if (file === undefined) return "";
  try {
    const bytes = Buffer.alloc(bytesMax);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytesMax, 0));
  } finally {
    closeSync(file);
  }
}
