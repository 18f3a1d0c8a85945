/** What is kept of many instances, and can be read again when it is gone. */
export class BoundedMap<K, V> {
  readonly #max: number;
  /** The one that was set longest ago comes first. */
  readonly #entries = new Map<K, V>();

  /** Keeps at most `max` entries. */
  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Sets an entry; when there are too many, the one that was set longest ago goes. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }
}
