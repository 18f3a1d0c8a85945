import { ObjectScan } from "@setpoint/client";
import { decodeObject } from "./decode-object.ts";
import type { ReflectorTarget, StagedObjects } from "./reflector-target.ts";

/**
 * The first list of a cache that holds nothing: its objects are shown when they come. Nobody trusts the cache before the list is
 * complete, and what is done while the server makes the rest need not be done when it has ended. An attempt that fails leaves what it has
 * shown; the next list drops what it lacks.
 */
export class FirstList implements StagedObjects {
  readonly #target: ReflectorTarget;
  readonly #scan = new ObjectScan();

  constructor(target: ReflectorTarget) {
    this.#target = target;
  }

  add(bytes: Uint8Array): void {
    if (this.#scan.scan(bytes)) this.#target.setRaw(bytes, this.#scan);
    else this.#target.set(decodeObject(bytes));
  }

  remove(bytes: Uint8Array): void {
    if (this.#scan.scan(bytes)) this.#target.removeRaw(this.#scan);
    else this.#target.remove(decodeObject(bytes));
  }

  async commit(): Promise<void> {}

  discard(): void {}
}
