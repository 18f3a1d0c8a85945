/** Counts the bytes of a storage against its budget. */
import { ApiError, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import { heapBytesOf } from "./heap-bytes.ts";
import type { StorageKey } from "./storage.ts";

/**
 * Growth up to this size is taken beyond the budget for a while: finalizers, status and leases of what is
 * there.
 */
const smallGrowthBytes = 4 * 1024;
/** How far small growth may go beyond the budget. */
const reserve = 1.05;

export class StoredBytes {
  readonly #bytesMax: number;
  /** By prefix and path: these texts are held by the storage anyway. */
  readonly #sizes = new Map<string, Map<string, number>>();
  #total = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get total(): number {
    return this.#total;
  }

  /** 0 for what is not stored. */
  sizeOf({ prefix, path }: StorageKey): number {
    return this.#sizes.get(prefix)?.get(path) ?? 0;
  }

  /** The size of the object; throws when there is no room for it. What becomes smaller is always taken. */
  admit(key: StorageKey, object: UnstructuredObject): number {
    const bytes = heapBytesOf(object);
    const growth = bytes - this.sizeOf(key);
    const limit = growth > smallGrowthBytes ? this.#bytesMax : this.#bytesMax * reserve;
    if (growth > 0 && this.#total + growth > limit) throw spaceExceeded();
    return bytes;
  }

  put(key: StorageKey, bytes: number): void {
    this.#total += bytes - this.sizeOf(key);
    let sizes = this.#sizes.get(key.prefix);
    if (sizes === undefined) this.#sizes.set(key.prefix, (sizes = new Map()));
    sizes.set(key.path, bytes);
  }

  delete(key: StorageKey): void {
    this.#total -= this.sizeOf(key);
    this.#sizes.get(key.prefix)?.delete(key.path);
  }
}

/** As kube-apiserver answers when etcd is beyond its quota. */
function spaceExceeded(): ApiError {
  return new ApiError(failure(500, "InternalError", "etcdserver: mvcc: database space exceeded"));
}
