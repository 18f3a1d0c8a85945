/**
 * Puts changes together for transactions. A transaction has each key once, so the last change of a key
 * counts; it ends at a revision of the source where that is possible, so that clients see no half of a
 * transaction.
 */
import type { KeyChange } from "./mirror-end.ts";

/** etcd allows 128 operations; one is the record. */
export const changesMax = 127;
/** etcd allows 1.5 MiB, with keys and overhead. */
export const bytesMax = 1 << 20;

export class ChangeBatch {
  readonly #changes = new Map<string, KeyChange>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  /** Whether the changes have to be written before these are added. */
  isFullFor(changes: readonly KeyChange[]): boolean {
    if (this.isEmpty) return false;
    const added = changes.reduce((sum, each) => sum + sizeOf(each), 0);
    return this.#changes.size + changes.length > changesMax || this.#bytes + added > bytesMax;
  }

  add(change: KeyChange): void {
    const before = this.#changes.get(change.key);
    this.#bytes += sizeOf(change) - (before === undefined ? 0 : sizeOf(before));
    this.#changes.set(change.key, change);
  }

  /** The changes, and whether a record has room beside them. The batch is empty then. */
  take(): { readonly changes: readonly KeyChange[]; readonly hasRoom: boolean } {
    const taken = { changes: [...this.#changes.values()], hasRoom: this.#bytes <= bytesMax };
    this.#changes.clear();
    this.#bytes = 0;
    return taken;
  }
}

/** Base64 has four characters for three bytes. */
function sizeOf({ key, value = "" }: KeyChange): number {
  return key.length + Math.ceil((value.length * 3) / 4);
}
