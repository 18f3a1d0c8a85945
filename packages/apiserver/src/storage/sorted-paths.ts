/** Index of the first element that is not less than `value`. */
export function lowerBound(sorted: readonly string[], value: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The paths of one prefix in order. Paths that arrive in order, as stored contents do, are appended. Other
 * changes are only recorded, and the next read restores the order by one merge: writes between two lists cost
 * no sorting.
 */
export class SortedPaths {
  #sorted: string[];
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  /** Those that it begins with are in order. */
  constructor(sorted: readonly string[] = []) {
    this.#sorted = [...sorted];
  }

  add(path: string): void {
    if (this.#removed.size > 0 && this.#removed.delete(path)) return;
    if (this.#added.size === 0 && this.#isAfterAll(path)) this.#sorted.push(path);
    else this.#added.add(path);
  }

  remove(path: string): void {
    if (!this.#added.delete(path)) this.#removed.add(path);
  }

  /** Valid until the next change. */
  all(): readonly string[] {
    if (this.#added.size > 0 || this.#removed.size > 0) this.#sorted = this.#merge();
    return this.#sorted;
  }

  /** The paths that start with `pathPrefix`. */
  startingWith(pathPrefix: string): readonly string[] {
    const sorted = this.all();
    if (pathPrefix === "") return sorted;
    // No path holds U+FFFF, so this bound is behind every path with the prefix.
    return sorted.slice(lowerBound(sorted, pathPrefix), lowerBound(sorted, `${pathPrefix}\uffff`));
  }

  #isAfterAll(path: string): boolean {
    const last = this.#sorted.at(-1);
    return last === undefined || last < path;
  }

  #merge(): string[] {
    const added = [...this.#added].sort(compare);
    const merged: string[] = [];
    let next = 0;
    for (const path of this.#sorted) {
      if (this.#removed.has(path)) continue;
      for (let fresh = added[next]; fresh !== undefined && fresh < path; fresh = added[++next]) merged.push(fresh);
      merged.push(path);
    }
    for (let fresh = added[next]; fresh !== undefined; fresh = added[++next]) merged.push(fresh);
    this.#added.clear();
    this.#removed.clear();
    return merged;
  }
}

/** By code units, as `<` does; never by locale. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
