/**
 * Caches encodings that several responses need at the same time, up to a number of bytes; evicts the oldest
 * first.
 */
export class EncodingCache {
  readonly #bytesMax: number;
  readonly #known = new Map<object, { readonly tag: string; readonly bytes: Buffer }>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** How much it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What was kept of a value under a tag. */
  find(value: unknown, tag: string): Buffer | undefined {
    const known = typeof value === "object" && value !== null ? this.#known.get(value) : undefined;
    return known?.tag === tag ? known.bytes : undefined;
  }

  /** Caches the encoding of a frozen object for later calls with the same tag; returns it. */
  keep(value: unknown, tag: string, bytes: Buffer): Buffer {
    const isFixed = typeof value === "object" && value !== null && Object.isFrozen(value);
    if (isFixed) this.#add(value, tag, bytes);
    return bytes;
  }

  #add(value: object, tag: string, bytes: Buffer): void {
    this.#bytes += bytes.length - (this.#known.get(value)?.bytes.length ?? 0);
    this.#known.delete(value);
    this.#known.set(value, { tag, bytes });
    for (const [object, oldest] of this.#known) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#known.delete(object);
      this.#bytes -= oldest.bytes.length;
    }
  }
}
