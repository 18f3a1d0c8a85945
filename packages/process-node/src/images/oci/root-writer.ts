/**
 * Writes the entries of a tar file below one folder, whatever they say: a path is followed through links as a
 * process inside of the folder would follow it, and none leads out. Every entry is made by the descriptor of
 * its folder. Layers lie over each other, so a later entry replaces an earlier one.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  futimesSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path/posix";
import type { Header } from "tar-stream";
import type { OpenFolder } from "../../host/open-folder.ts";
import { removeEntry } from "../../host/remove-entry.ts";
import { TreeWalk } from "../../host/tree-walk.ts";
import { makeFolderInRoot } from "../root-path.ts";
import { entryRefusal, namesOfEntry, podId } from "./entry-rules.ts";
import type { ArchiveMeter } from "./limits.ts";
import type { LoadPace } from "./load-pace.ts";
import type { TarEntry } from "./tar-entries.ts";
import { WrittenPaths } from "./written-paths.ts";

export interface RootWriterOptions {
  /** The folder; it belongs to this process alone. */
  readonly root: string;
  readonly meter: ArchiveMeter;
  readonly pace: LoadPace;
  /** Keep the owners that the entries name: only root can. */
  readonly keepOwners: boolean;
}

/** A name in a folder of the image. */
interface Place {
  readonly parent: OpenFolder;
  readonly name: string;
  /** As a process inside names it. */
  readonly path: string;
}

const modeBits = 0o7777;
const whiteout = ".wh.";
const opaque = ".wh..wh..opq";
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Writes one layer; what lower layers left below `root` may be replaced or removed. */
export class RootWriter implements Disposable {
  readonly #options: RootWriterOptions;
  readonly #onMake = (): void => this.#options.meter.addName();
  /** Of this layer: its removals concern the lower layers alone. */
  readonly #written = new WrittenPaths();
  /** The folder of the entry before: the next one is mostly beside it. */
  #last: { readonly names: string; readonly walk: TreeWalk } | undefined;
  /** The way to that folder may have led through what was removed. */
  #isLastStale = false;

  constructor(options: RootWriterOptions) {
    this.#options = options;
  }

  async write(entry: TarEntry): Promise<void> {
    const { header } = entry;
    this.#options.meter.addEntry(header.name, header.size ?? 0);
    const names = namesOfEntry(header);
    const name = names.pop();
    if (name === undefined) return;
    try {
      const place = this.#place(names, name);
      this.#options.meter.addPath(place.path);
      await (name.startsWith(whiteout) ? this.#remove(place) : this.#put(entry, place));
    } catch (error) {
      throw entryRefusal(header.name, error);
    }
  }

  [Symbol.dispose](): void {
    this.#last?.walk[Symbol.dispose]();
    this.#last = undefined;
  }

  /** The folder is the one that a process inside would find, made when it is missing. */
  #place(names: readonly string[], name: string): Place {
    const key = `/${names.join("/")}`;
    if (this.#last?.names !== key || this.#isLastStale) {
      this[Symbol.dispose]();
      this.#isLastStale = false;
      this.#last = { names: key, walk: makeFolderInRoot(this.#options.root, key, this.#onMake) };
    }
    const { folder, path } = this.#last.walk;
    if (folder === undefined) throw new Error(`Cannot write into "${key}": it was just made, and is no folder`);
    return { parent: folder, name, path: join(path, name) };
  }

  async #put(entry: TarEntry, place: Place): Promise<void> {
    const { header } = entry;
    const { type } = header;
    // Devices and pipes are left out: containers get their own.
    if (type === "character-device" || type === "block-device" || type === "fifo") return;
    if (type === "directory") await this.#putFolder(header, place);
    else if (type === "link") await this.#putLink(header, place);
    else if (type === "symlink") await this.#putSymlink(header, place);
    else await this.#putFile(entry, place);
    this.#written.add(place.path);
  }

  async #putFolder(header: Header, place: Place): Promise<void> {
    const { parent, name } = place;
    if (parent.stat(name)?.isDirectory() !== true) {
      await this.#clear(place);
      mkdirSync(parent.entry(name));
    }
    using folder = parent.folder(name);
    if (folder === undefined) throw new Error(`Cannot write "${place.path}": it was just made, and is no folder`);
    this.#own(parent.entry(name), header);
    // An ordinary user keeps the rights to read and to remove what it owns.
    chmodSync(folder.self, (header.mode & modeBits) | (this.#options.keepOwners ? 0 : 0o700));
  }

  async #putSymlink(header: Header, place: Place): Promise<void> {
    await this.#clear(place);
    symlinkSync(header.linkname ?? "", place.parent.entry(place.name));
    this.#own(place.parent.entry(place.name), header);
  }

  /** To another file of the image, or to a symlink, which stays one. */
  async #putLink(header: Header, place: Place): Promise<void> {
    const names = namesOfEntry(header, header.linkname ?? "");
    using found = TreeWalk.to(this.#options.root, `/${names.slice(0, -1).join("/")}`, { links: "root" });
    const [folder, name = ""] = [found.folder, names.at(-1)];
    const source = name === "" ? undefined : folder?.stat(name);
    if (folder === undefined || source === undefined || !(source.isFile() || source.isSymbolicLink()))
      throw entryRefusal(header.name, `links to "${header.linkname}": expected a file that comes before it`);
    if (join(found.path, name) === place.path) return;
    await this.#clear(place);
    linkSync(folder.entry(name), place.parent.entry(place.name));
    this.#own(place.parent.entry(place.name), header);
  }

  async #putFile({ header, content }: TarEntry, place: Place): Promise<void> {
    await this.#clear(place);
    const file = openSync(place.parent.entry(place.name), newFile, 0o600);
    try {
      for await (const chunk of content) {
        await this.#options.pace.step();
        writeAll(file, chunk);
      }
      const { keepOwners } = this.#options;
      // Owner first: a change of it clears the setuid bit.
      if (keepOwners) fchownSync(file, podId(header.uid), podId(header.gid));
      fchmodSync(file, (header.mode & modeBits) | (keepOwners ? 0 : 0o600));
      const time = header.mtime?.getTime() ?? 0;
      if (Number.isFinite(time)) futimesSync(file, time / 1_000, time / 1_000);
    } finally {
      closeSync(file);
    }
  }

  #own(entry: string, { uid, gid }: Header): void {
    if (this.#options.keepOwners) lchownSync(entry, podId(uid), podId(gid));
  }

  /** `.wh.NAME` removes NAME of the lower layers, `.wh..wh..opq` all that they have in the folder. */
  async #remove({ parent, name, path }: Place): Promise<void> {
    const folder = join(path, "..");
    if (name === opaque) {
      if (this.#written.isFirstOpaque(folder)) await this.#removeLower(parent, folder);
    } else if (!name.startsWith(".wh..wh.")) {
      const removed = name.slice(whiteout.length);
      if (["", ".", ".."].includes(removed))
        throw entryRefusal(name, `is a whiteout: expected the name of a file after "${whiteout}"`);
      if (!this.#written.has(join(folder, removed))) await this.#clear({ parent, name: removed, path });
    }
  }

  /** All that this layer has not written. */
  async #removeLower(folder: OpenFolder, path: string): Promise<void> {
    for (const { name } of folder.entries()) {
      await this.#options.pace.step();
      const each = join(path, name);
      if (!this.#written.has(each)) {
        await this.#clear({ parent: folder, name, path: each });
        continue;
      }
      using inner = folder.folder(name);
      if (inner !== undefined) await this.#removeLower(inner, each);
    }
  }

  async #clear({ parent, name }: Place): Promise<void> {
    const before = parent.stat(name);
    if (before === undefined) return;
    await removeEntry(parent, name, this.#options.pace.signal);
    this.#isLastStale ||= before.isDirectory() || before.isSymbolicLink();
  }
}

function writeAll(file: number, chunk: Buffer): void {
  for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
}
