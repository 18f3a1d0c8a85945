import { ObjectScan } from "@setpoint/client";
import { decodeObject } from "./decode-object.ts";
import type { ReflectorStore, StagedObjects } from "../reflector-store.ts";

/**
 * The first list of an empty cache: objects show as they arrive. Nothing relies on the cache before the list
 * is complete, and indexing while the server still sends saves that time at the end. A failed attempt leaves
 * the objects that it has shown; the next list deletes those that it lacks.
 */
export class FirstList implements StagedObjects {
  readonly #store: ReflectorStore;
  readonly #scan = new ObjectScan();

  constructor(store: ReflectorStore) {
    this.#store = store;
  }

  add(bytes: Uint8Array): void {
    if (this.#scan.scan(bytes)) this.#store.setRaw(bytes, this.#scan);
    else this.#store.set(decodeObject(bytes));
  }

  remove(bytes: Uint8Array): void {
    if (this.#scan.scan(bytes)) this.#store.removeRaw(this.#scan);
    else this.#store.remove(decodeObject(bytes));
  }

  async commit(): Promise<void> {}

  discard(): void {}
}
