import { dirname } from "node:path/posix";

/** What one layer has written, by canonical paths, and the folders that it has emptied of lower layers. */
export class WrittenPaths {
  readonly #paths = new Set<string>();
  readonly #opaque = new Set<string>();

  /** With all folders above it. */
  add(path: string): void {
    for (let at = path; at !== "/" && !this.#paths.has(at); at = dirname(at)) this.#paths.add(at);
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Whether the folder is to be emptied now; once is enough, and it may be large. */
  isFirstOpaque(folder: string): boolean {
    const isFirst = !this.#opaque.has(folder);
    this.#opaque.add(folder);
    return isFirst;
  }
}
