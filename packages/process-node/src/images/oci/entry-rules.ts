/** Which entries of a tar file are taken, and how a refusal names them. */
import { isSetpointError, messageOf } from "@setpoint/apimachinery";
import type { Header } from "tar-stream";
import { pathBytesMax } from "../../host/tree-walk.ts";
import { refusal } from "./refusal.ts";

/** A pod has the ids below; what belongs to another user belongs to nobody there. */
const idsOfPod = 65_536;
const nobody = 65_534;
const shownMax = 200;
/** Of the kernel, for what the entry says: its name, its link, its place. */
const faultsOfEntry: ReadonlySet<unknown> = new Set([
  "EEXIST",
  "EINVAL",
  "EISDIR",
  "ELOOP",
  "EMLINK",
  "ENAMETOOLONG",
  "ENOENT",
  "ENOTDIR",
  "ENOTEMPTY",
]);

/** The names of the path, from the root; throws for an entry that is not taken. */
export function namesOfEntry({ name, type, pax, linkname }: Header, path: string = name): string[] {
  // A map of the holes stands in the content of such a file, where others have their bytes.
  const isSparse = Object.keys(pax ?? {}).some((key) => key.startsWith("GNU.sparse."));
  if (isSparse || (type as unknown) === null)
    throw entryRefusal(name, "is of an unknown kind: expected a file, folder or link, without holes");
  if (Buffer.byteLength(path) > pathBytesMax)
    throw entryRefusal(name, `has a path of ${Buffer.byteLength(path)} bytes: expected at most ${pathBytesMax}`);
  if (`${path}${linkname ?? ""}`.includes("\0")) throw entryRefusal(name, "contains a NUL byte");
  const names = path.split("/").filter((part) => part !== "" && part !== ".");
  if (!names.includes("..")) return names;
  throw entryRefusal(name, 'leaves the archive: expected a path without ".."');
}

/** The error that names the entry; one that is not the entry's fault stays as it is. */
export function entryRefusal(name: string, why: unknown): unknown {
  const shown = JSON.stringify(name.length > shownMax ? `${name.slice(0, shownMax)}…` : name);
  if (typeof why === "string") return refusal(`entry ${shown} ${why}`);
  if (isSetpointError(why, "ERR_PATH_REFUSED")) return refusal(`entry ${shown}: ${messageOf(why)}`, why);
  const { code } = why as { readonly code?: unknown };
  return faultsOfEntry.has(code) ? refusal(`entry ${shown} cannot be written: ${String(code)}`, why) : why;
}

export function podId(id: number): number {
  return Number.isInteger(id) && id >= 0 && id < idsOfPod ? id : nobody;
}
