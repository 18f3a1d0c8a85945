/** Names from outside that are kept at most; the names that a cluster uses every day are far fewer. */
const recentNamesMax = 256;
/** Longer ones are no names, but what a free map of somebody has for keys. */
const nameLengthMax = 256;

/** What was made for a name lately. Names come from clients, so when there are too many of them, all are forgotten. */
export class RecentMap<T> {
  readonly #values = new Map<string, T>();

  get(name: string): T | undefined {
    return this.#values.get(name);
  }

  /** Returns the value. */
  remember(name: string, value: T): T {
    if (name.length > nameLengthMax) return value;
    if (this.#values.size === recentNamesMax) this.#values.clear();
    this.#values.set(name, value);
    return value;
  }
}
