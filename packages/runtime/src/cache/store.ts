import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";

/** Values under which an object is found. */
export type IndexFunction = (object: Stored<KubeObject>) => readonly string[];

/** The built-in index: objects by the UID of their controlling owner. */
export const ownerIndex = "setpoint.dev/owner";

/** `namespace/name`, or `name` for objects without a namespace. */
export function storeKey(key: { readonly namespace?: string | undefined; readonly name?: string | undefined }): string {
  return key.namespace === undefined ? (key.name ?? "") : `${key.namespace}/${key.name ?? ""}`;
}

/** The reference of an object to its controlling owner. */
export function controllerOf(
  object: KubeObject,
): NonNullable<KubeObject["metadata"]["ownerReferences"]>[number] | undefined {
  return object.metadata.ownerReferences?.find((each) => each.controller === true);
}

class Index {
  readonly #valuesOf: IndexFunction;
  readonly #keys = new Map<string, Set<string>>();

  constructor(valuesOf: IndexFunction) {
    this.#valuesOf = valuesOf;
  }

  add(key: string, object: Stored<KubeObject>): void {
    for (const value of this.#valuesOf(object)) {
      const keys = this.#keys.get(value);
      if (keys === undefined) this.#keys.set(value, new Set([key]));
      else keys.add(key);
    }
  }

  remove(key: string, object: Stored<KubeObject>): void {
    for (const value of this.#valuesOf(object)) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
  }

  find(value: string): Iterable<string> {
    return this.#keys.get(value) ?? [];
  }
}

const namespaceIndex = "setpoint.dev/namespace";

/** The objects of one informer by key, with indexes. Its objects are shared: whoever reads them never changes them. */
export class Store {
  readonly #objects = new Map<string, Stored<KubeObject>>();
  readonly #indexes = new Map<string, Index>();

  constructor() {
    this.addIndex(ownerIndex, (object) => {
      const owner = controllerOf(object);
      return owner === undefined ? [] : [owner.uid];
    });
    this.addIndex(namespaceIndex, (object) => [object.metadata.namespace ?? ""]);
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Adds an index over present and future objects; the same name twice keeps the first. */
  addIndex(name: string, valuesOf: IndexFunction): void {
    if (this.#indexes.has(name)) return;
    const index = new Index(valuesOf);
    for (const [key, object] of this.#objects) index.add(key, object);
    this.#indexes.set(name, index);
  }

  get(key: string): Stored<KubeObject> | undefined {
    return this.#objects.get(key);
  }

  values(): IterableIterator<Stored<KubeObject>> {
    return this.#objects.values();
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  inNamespace(namespace: string): readonly Stored<KubeObject>[] {
    return this.byIndex(namespaceIndex, namespace);
  }

  byIndex(name: string, value: string): readonly Stored<KubeObject>[] {
    const found: Stored<KubeObject>[] = [];
    for (const key of this.#indexes.get(name)?.find(value) ?? []) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  set(key: string, object: Stored<KubeObject>): void {
    this.delete(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) index.add(key, object);
  }

  delete(key: string): void {
    const object = this.#objects.get(key);
    if (object === undefined) return;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) index.remove(key, object);
  }
}
