/**
 * Folders by descriptor, for trees that others filled: images, and volumes of pods. The kernel finds an entry
 * from the descriptor of its folder and one name, so no link leads to it, also when another process changes
 * the tree meanwhile. Node has no `openat`; `/proc/self/fd/N/NAME` is the same.
 */
import { closeSync, constants, lstatSync, openSync, readdirSync, readlinkSync, type Dirent, type Stats } from "node:fs";

/** O_PATH, which Node does not name: to pass through a folder takes no right to read it. */
const pathOnly = 0o10_000_000;
const folderFlags = pathOnly | constants.O_DIRECTORY;
/** There is no folder of that name: nothing at all, a link or a file, one without rights, or no name. */
const noFolder: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENAMETOOLONG"]);

export class OpenFolder implements Disposable {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** A folder of the node's own: links on its path are followed. */
  static at(path: string): OpenFolder {
    return new OpenFolder(openSync(path, folderFlags));
  }

  /** This folder as a path that leads to it alone, whatever its name is by now. */
  get self(): string {
    return `/proc/self/fd/${this.#descriptor}`;
  }

  /** A path to the entry itself, to be used while the folder is open; for calls that do not follow a link. */
  entry(name: string): string {
    return `${this.self}/${plainName(name)}`;
  }

  /** The folder of this name; undefined for a link or anything else. */
  folder(name: string): OpenFolder | undefined {
    try {
      return new OpenFolder(openSync(this.entry(name), folderFlags | constants.O_NOFOLLOW));
    } catch (error) {
      if (noFolder.has((error as NodeJS.ErrnoException).code)) return undefined;
      throw error;
    }
  }

  /** Of the entry itself, also when it is a link. */
  stat(name: string): Stats | undefined {
    try {
      return lstatSync(this.entry(name), { throwIfNoEntry: false });
    } catch (error) {
      if (noFolder.has((error as NodeJS.ErrnoException).code)) return undefined;
      throw error;
    }
  }

  /** What the link of this name says; undefined for anything else. */
  linkText(name: string): string | undefined {
    return this.stat(name)?.isSymbolicLink() === true ? readlinkSync(this.entry(name)) : undefined;
  }

  entries(): readonly Dirent[] {
    return readdirSync(this.self, { withFileTypes: true });
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

function plainName(name: string): string {
  if (!["", ".", ".."].includes(name) && !/[/\0]/.test(name)) return name;
  throw new RangeError(`Cannot look for ${JSON.stringify(name)} in a folder: expected one name`);
}
