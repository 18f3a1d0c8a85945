/**
 * Writes the entries of a tar file below one folder, whatever they say: a path is followed through links as a
 * process inside of the folder would follow it, and none leads out. Layers lie over each other, so a later
 * entry replaces an earlier one.
 */
import {
  chmodSync,
  closeSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path/posix";
import type { Header } from "tar-stream";
import { resolveInRoot } from "../root-path.ts";
import type { ArchiveMeter } from "./limits.ts";
import { refusal } from "./refusal.ts";
import type { TarEntry } from "./tar-entries.ts";

export interface RootWriterOptions {
  /** The folder; it belongs to this process alone. */
  readonly root: string;
  readonly meter: ArchiveMeter;
  /** Keep the owners that the entries name: only root can. */
  readonly keepOwners: boolean;
}

const modeBits = 0o7777;
/** A pod has the ids below; what belongs to another user belongs to nobody there. */
const idsOfPod = 65_536;
const nobody = 65_534;
const whiteout = ".wh.";
const opaque = ".wh..wh..opq";

/** Writes one layer; what lower layers left below `root` may be replaced or removed. */
export class RootWriter {
  readonly #options: RootWriterOptions;
  /** Paths of this layer and their parents: its removals concern the lower layers alone. */
  readonly #written = new Set<string>();

  constructor(options: RootWriterOptions) {
    this.#options = options;
  }

  async write(entry: TarEntry): Promise<void> {
    const { header } = entry;
    this.#options.meter.addEntry();
    const parts = partsOf(header.name);
    const name = parts.pop();
    if (name === undefined) return;
    const parent = this.#folder(parts);
    if (name.startsWith(whiteout)) return this.#remove(parent, name);
    await this.#place(entry, join(parent, name));
  }

  /** The folder of these names as a process inside would find it, made when it is missing. */
  #folder(parts: readonly string[]): string {
    const path = resolveInRoot(this.#options.root, `/${parts.join("/")}`);
    this.#use(() => mkdirSync(this.#hostPath(path), { recursive: true }), path);
    return path;
  }

  async #place(entry: TarEntry, path: string): Promise<void> {
    const { header } = entry;
    const target = this.#hostPath(path);
    const before = lstatSync(target, { throwIfNoEntry: false });
    if (header.type === "directory") {
      if (before?.isDirectory() !== true) {
        if (before !== undefined) rmSync(target);
        mkdirSync(target);
      }
      return this.#finish(header, path);
    }
    // Devices and pipes are left out: containers get their own.
    if (!isFile(header) && header.type !== "symlink" && header.type !== "link") return;
    const source = header.type === "link" ? this.#linked(header) : undefined;
    if (source === target) return;
    if (before !== undefined) rmSync(target, { recursive: true });
    if (source !== undefined) linkSync(source, target);
    else if (header.type === "symlink") symlinkSync(header.linkname, target);
    else await this.#content(entry, target);
    this.#finish(header, path);
  }

  /** A hard link to another file of the image. */
  #linked({ name, linkname }: Header): string {
    const parts = partsOf(linkname);
    const file = parts.pop() ?? "";
    const { root } = this.#options;
    const path = this.#hostPath(join(resolveInRoot(root, `/${parts.join("/")}`), file));
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === true) return path;
    throw refusal(`entry "${name}" links to "${linkname}": expected a file that comes before it`);
  }

  async #content(entry: TarEntry, target: string): Promise<void> {
    const file = openSync(target, "wx", 0o600);
    try {
      for await (const chunk of entry.content) writeSync(file, chunk);
    } finally {
      closeSync(file);
    }
  }

  /** Owner first: a change of it clears the setuid bit. */
  #finish(header: Header, path: string): void {
    const target = this.#hostPath(path);
    const { keepOwners } = this.#options;
    if (keepOwners) lchownSync(target, podId(header.uid), podId(header.gid));
    if (header.type !== "symlink" && header.type !== "link") {
      // An ordinary user keeps the rights to read and to remove what it owns.
      const own = keepOwners ? 0 : header.type === "directory" ? 0o700 : 0o600;
      chmodSync(target, (header.mode & modeBits) | own);
      if (isFile(header)) utimesSync(target, header.mtime, header.mtime);
    }
    for (let at = path; at !== "/"; at = dirname(at)) this.#written.add(at);
  }

  /** `.wh.NAME` removes NAME of the lower layers, `.wh..wh..opq` all that they have in the folder. */
  #remove(parent: string, name: string): void {
    if (name === opaque) {
      for (const child of readdirSync(this.#hostPath(parent))) this.#removeLower(join(parent, child));
    } else if (!name.startsWith(".wh..wh.")) {
      const removed = name.slice(whiteout.length);
      if (["", ".", ".."].includes(removed)) throw refusal(`expected the name of a file after "${whiteout}"`);
      this.#removeLower(join(parent, removed));
    }
  }

  #removeLower(path: string): void {
    if (!this.#written.has(path)) rmSync(this.#hostPath(path), { recursive: true, force: true });
  }

  #hostPath(path: string): string {
    return join(this.#options.root, path);
  }

  #use(action: () => void, path: string): void {
    try {
      action();
    } catch (error) {
      const { code } = error as { readonly code?: unknown };
      if (code !== "EEXIST" && code !== "ENOTDIR") throw error;
      throw refusal(`expected "${path}" to be a folder, because an entry lies in it`, error);
    }
  }
}

/** The names of a path; throws for one that leads out of the root. */
function partsOf(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (!parts.includes("..") && !path.includes("\0")) return parts;
  throw refusal(`entry "${path}" leaves the archive: expected a path without ".."`);
}

function isFile({ type }: Header): boolean {
  return type === "file" || type === "contiguous-file";
}

function podId(id: number): number {
  return id < 0 || id >= idsOfPod ? nobody : id;
}
