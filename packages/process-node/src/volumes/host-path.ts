/** Files and folders of the host as volumes, with the checks of their types. */
import type { Volume } from "@setpoint/api";
import { closeSync, mkdirSync, openSync, statSync, type Stats } from "node:fs";
import { nodeError } from "../errors.ts";

type HostPath = NonNullable<Volume["hostPath"]>;

const isOfType: Readonly<Record<string, { readonly what: string; readonly test: (found: Stats) => boolean }>> = {
  Directory: { what: "a directory", test: (found) => found.isDirectory() },
  DirectoryOrCreate: { what: "a directory", test: (found) => found.isDirectory() },
  File: { what: "a file", test: (found) => found.isFile() },
  FileOrCreate: { what: "a file", test: (found) => found.isFile() },
  Socket: { what: "a socket file", test: (found) => found.isSocket() },
  CharDevice: { what: "a character device", test: (found) => found.isCharacterDevice() },
  BlockDevice: { what: "a block device", test: (found) => found.isBlockDevice() },
};

/**
 * The path, which exists then and is of its type. Without a type, one that is missing becomes a folder, as a
 * container runtime makes it. Throws ERR_CONTAINER_CONFIG with upstream's message.
 */
export function hostPath({ path, type = "" }: HostPath): string {
  make(path, type);
  const check = isOfType[type];
  const found = statSync(path, { throwIfNoEntry: false });
  if (check === undefined || (found !== undefined && check.test(found))) return path;
  throw nodeError("ERR_CONTAINER_CONFIG", `hostPath type check failed: ${path} is not ${check.what}`);
}

function make(path: string, type: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  if (type === "" || type === "DirectoryOrCreate") mkdirSync(path, { recursive: true, mode: 0o755 });
  // Upstream makes the file, not the folders above it.
  if (type === "FileOrCreate") closeSync(openSync(path, "a", 0o644));
}
