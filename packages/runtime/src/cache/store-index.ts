import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/**
 * Values under which an object is found. It should read the metadata alone where it can: that is decoded
 * apart from the rest.
 */
export type IndexFunction = (object: Stored<KubeObject>) => readonly string[];

const none: readonly string[] = [];

/** Keys of objects by values of the objects. */
export class StoreIndex {
  readonly #valuesOf: IndexFunction;
  /** Most values have one key (an owner with one child), for which a set would be ten times its size. */
  readonly #keys = new Map<string, string | Set<string>>();

  constructor(valuesOf: IndexFunction) {
    this.#valuesOf = valuesOf;
  }

  add(key: string, object: Stored<KubeObject>): void {
    for (const value of this.#valuesOf(object)) {
      const present = this.#keys.get(value);
      if (present === undefined) this.#keys.set(value, key);
      else if (typeof present !== "string") present.add(key);
      else if (present !== key) this.#keys.set(value, new Set([present, key]));
    }
  }

  remove(key: string, object: Stored<KubeObject>): void {
    for (const value of this.#valuesOf(object)) {
      const present = this.#keys.get(value);
      if (present === key) this.#keys.delete(value);
      else if (present instanceof Set) {
        present.delete(key);
        if (present.size === 0) this.#keys.delete(value);
      }
    }
  }

  /** Whether the object, which need not be in the store, has this value. */
  hasValue(object: Stored<KubeObject>, value: string): boolean {
    return this.#valuesOf(object).includes(value);
  }

  find(value: string): Iterable<string> {
    const found = this.#keys.get(value);
    return found === undefined ? none : typeof found === "string" ? [found] : found;
  }
}
