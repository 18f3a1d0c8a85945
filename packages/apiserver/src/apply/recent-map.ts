/** The limit of cached names from requests; a cluster regularly uses far fewer. */
const recentNamesMax = 256;
/** Longer keys are not field names, but keys of a map that a user fills; the map does not keep them. */
const nameLengthMax = 256;

/**
 * Caches a value by name. Names come from clients, so a full cache is cleared.
 */
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
