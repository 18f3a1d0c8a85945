/**
 * A folder whose files change all at once: they lie in a dated folder, `..data` points to it, and each file is a link through
 * `..data`. A reader sees the old set or the new one, as with a kubelet.
 */
import {
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  lstatSync,
  readdirSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "@setpoint/host";

export interface FolderFile {
  readonly data: string | Uint8Array;
  readonly mode?: number;
}

export type FolderContent = ReadonlyMap<string, FolderFile>;

const defaultMode = 0o644;

export function writeAtomicFolder(clock: Clock, folder: string, content: FolderContent): void {
  mkdirSync(folder, { recursive: true });
  const previous = currentVersion(folder);
  const version = freshVersion(clock, folder);
  for (const [path, file] of content) {
    const target = join(folder, version, join("/", path));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, file.data, { mode: file.mode ?? defaultMode });
  }
  mkdirSync(join(folder, version), { recursive: true });
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
