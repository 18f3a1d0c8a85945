/**
 * Finds what a path leads to beneath a folder that others filled, one name at a time. Links are read and
 * followed here, never by the kernel, so none leads out of the folder.
 */
import { mkdirSync } from "node:fs";
import { nodeError } from "../errors.ts";
import { OpenFolder } from "./open-folder.ts";

/** As many as Linux follows. */
export const linksMax = 40;
/** Folders inside each other; the deepest trees in common use have about 60. */
export const depthMax = 256;
/** Bytes of a path; the kernel takes 4,096 with the root in front of it. */
export const pathBytesMax = 3_072;
/** Names that are looked at for one path, with those of links: many links can lead to and fro. */
const stepsMax = 1_024;

export interface WalkRules {
  /**
   * `root`: as a process follows them whose root is the folder. `beneath`: those that lead out of the folder
   * are refused. `none`: all are refused.
   */
  readonly links: "root" | "beneath" | "none";
  /** Makes folders that are missing, with the rights of this process. */
  readonly makes?: boolean;
  /** Called before each folder that is made; what it throws ends the walk. */
  readonly onMake?: () => void;
}

export class TreeWalk implements Disposable {
  readonly #rules: WalkRules;
  /** The root, and those folders on the way that exist. */
  readonly #folders: OpenFolder[];
  readonly #names: string[] = [];

  private constructor(root: OpenFolder, rules: WalkRules) {
    this.#folders = [root];
    this.#rules = rules;
  }

  /**
   * Follows `path` from `root`, a folder of the node's own. The rest of a path behind what is missing or no
   * folder is taken as it is written. Throws ERR_PATH_REFUSED.
   */
  static to(root: string, path: string, rules: WalkRules): TreeWalk {
    using walk = new DisposableStack();
    const found = walk.use(new TreeWalk(OpenFolder.at(root), rules));
    found.#follow(path);
    walk.move();
    return found;
  }

  /** Without links; as a process inside of the folder names it. */
  get path(): string {
    return `/${this.#names.join("/")}`;
  }

  /** When the path leads to a folder. */
  get folder(): OpenFolder | undefined {
    return this.#isWhole ? this.#last : undefined;
  }

  /** When the path leads to something else: its folder and its name. It may be missing. */
  get entry(): { readonly parent: OpenFolder; readonly name: string } | undefined {
    const name = this.#names.at(-1);
    const isInFolder = this.#folders.length === this.#names.length;
    return isInFolder && name !== undefined ? { parent: this.#last, name } : undefined;
  }

  [Symbol.dispose](): void {
    for (const folder of this.#folders.splice(0)) folder[Symbol.dispose]();
  }

  get #isWhole(): boolean {
    return this.#folders.length === this.#names.length + 1;
  }

  get #last(): OpenFolder {
    const last = this.#folders.at(-1);
    if (last === undefined) throw new Error("Cannot use a walk that is over");
    return last;
  }

  #follow(path: string): void {
    const pending = namesOf(path, path).reverse();
    let links = 0;
    let steps = 0;
    for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
      if (++steps > stepsMax) throw refused(path, `leads through more than ${stepsMax} names`);
      const text = name === ".." ? this.#goUp(path) : this.#enter(name, path);
      if (text === undefined) continue;
      if (++links > linksMax) throw refused(path, `has more than ${linksMax} links (ELOOP)`);
      if (text.startsWith("/")) this.#goToRoot(path);
      for (const each of namesOf(text, path).reverse()) pending.push(each);
    }
  }

  /** The text of the link that has the name. */
  #enter(name: string, path: string): string | undefined {
    const next = this.#isWhole ? this.#next(name, path) : undefined;
    if (typeof next === "string") return next;
    if (next !== undefined) this.#folders.push(next);
    this.#names.push(name);
    if (this.#names.length > depthMax) throw refused(path, `has more than ${depthMax} folders inside each other`);
    const bytes = this.#names.reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0);
    if (bytes > pathBytesMax) throw refused(path, `is longer than ${pathBytesMax} bytes (ENAMETOOLONG)`);
    return undefined;
  }

  #next(name: string, path: string): OpenFolder | string | undefined {
    const folder = this.#last.folder(name);
    if (folder !== undefined) return folder;
    const text = this.#last.linkText(name);
    if (text !== undefined && this.#rules.links === "none") throw refused(path, `has a link, "${name}"`);
    if (text !== undefined || this.#rules.makes !== true) return text;
    if (this.#last.stat(name) !== undefined)
      throw refused(path, `expects "${this.path === "/" ? "" : this.path}/${name}" to be a folder (ENOTDIR)`);
    this.#rules.onMake?.();
    mkdirSync(this.#last.entry(name));
    return this.#last.folder(name);
  }

  #goUp(path: string): undefined {
    if (this.#names.length === 0 && this.#rules.links !== "root") throw leadsOut(path);
    if (this.#isWhole && this.#folders.length > 1) this.#folders.pop()?.[Symbol.dispose]();
    this.#names.pop();
  }

  #goToRoot(path: string): void {
    if (this.#rules.links !== "root") throw leadsOut(path);
    for (const folder of this.#folders.splice(1)) folder[Symbol.dispose]();
    this.#names.splice(0);
  }
}

function namesOf(text: string, path: string): string[] {
  if (text.includes("\0")) throw refused(path, "contains a NUL byte");
  return text.split("/").filter((name) => name !== "" && name !== ".");
}

function leadsOut(path: string): Error {
  return refused(path, "leads out of its folder");
}

const shownMax = 200;

function refused(path: string, why: string): Error {
  const shown = path.length > shownMax ? `${path.slice(0, shownMax)}…` : path;
  return nodeError("ERR_PATH_REFUSED", `path ${JSON.stringify(shown)} ${why}`);
}
