import type { KubeObject } from "@setpoint/apimachinery";
import type { ObjectScan, Stored } from "@setpoint/client";
import type { BytePacker, Logger } from "@setpoint/host";
import { guarded } from "./guarded.ts";
import { type ObjectVersion, type RawHandle, RawObjectStore } from "./raw/raw-object-store.ts";
import type { TypeFields } from "./raw/raw-objects.ts";
import { type IndexFunction, StoreIndex } from "./store-index.ts";

export type { IndexFunction } from "./store-index.ts";

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

/** Options of a store. All of them have a default. */
export interface StoreOptions {
  /** The type of objects that come as bytes; items of a list do not name it. */
  readonly type?: TypeFields;
  /** Whether objects that are decoded here are frozen; default true. */
  readonly freeze?: boolean;
  /** Packs the bytes that are seldom read. */
  readonly packer?: BytePacker | undefined;
  /** Gets one error for each index function that throws. */
  readonly log?: Logger;
}

/** An object as it came, or the handle of its bytes. */
type Entry = Stored<KubeObject> | RawHandle;

/**
 * The objects of one informer by key, with indexes. Its objects are shared: readers must not change them.
 * Objects that came as bytes stay bytes, and are decoded when they are read; equal reads need not give the
 * same object.
 */
export class Store {
  readonly #entries = new Map<string, Entry>();
  readonly #indexes = new Map<string, StoreIndex>();
  readonly #owners: StoreIndex = new StoreIndex(ownerUids);
  readonly #raw: RawObjectStore;
  readonly #log: Logger | undefined;
  #namespaces: Map<string, Set<string>> | undefined;

  constructor(options: StoreOptions = {}) {
    const { type = { apiVersion: "", kind: "" }, freeze = true, packer, log } = options;
    this.#raw = new RawObjectStore({ type, freeze, packer });
    this.#log = log;
    this.#indexes.set(ownerIndex, this.#owners);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Bytes of JSON of the objects that came as bytes. */
  get bytes(): number {
    return this.#raw.bytes;
  }

  /** The memory that these bytes take, packed where they are seldom read. */
  get keptBytes(): number {
    return this.#raw.keptBytes;
  }

  /**
   * Adds an index over present and future objects; the same name twice keeps the first. An object for which
   * `valuesOf` throws is not found by it.
   */
  addIndex(name: string, valuesOf: IndexFunction): void {
    if (this.#indexes.has(name)) return;
    // What a generator throws, or what is no list, counts as thrown by the function.
    const values = (object: Stored<KubeObject>): readonly string[] => [...valuesOf(object)];
    const index = new StoreIndex(guarded(`index "${name}"`, this.#log, values, noValues));
    for (const [key, entry] of this.#entries) index.add(key, this.#lazy(entry));
    this.#indexes.set(name, index);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  get(key: string): Stored<KubeObject> | undefined {
    const entry = this.#entries.get(key);
    return typeof entry === "number" ? this.#raw.get(entry) : entry;
  }

  /** UID and revision of an object, without decoding it. */
  versionOf(key: string): ObjectVersion | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    return typeof entry === "number" ? this.#raw.versionOf(entry) : entry.metadata;
  }

  /** An object that is decoded when a field of it is read, its metadata apart from the rest. */
  lazy(key: string): Stored<KubeObject> | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : this.#lazy(entry);
  }

  *lazyEntries(): IterableIterator<[key: string, object: Stored<KubeObject>]> {
    for (const [key, entry] of this.#entries) yield [key, this.#lazy(entry)];
  }

  *values(): IterableIterator<Stored<KubeObject>> {
    for (const entry of this.#entries.values()) yield typeof entry === "number" ? this.#raw.read(entry) : entry;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  inNamespace(namespace: string): readonly Stored<KubeObject>[] {
    this.#namespaces ??= this.#readNamespaces();
    return this.#objects(this.#namespaces.get(namespace) ?? []);
  }

  /**
   * The objects for which `isWanted` holds, of one namespace or all. It should read the metadata alone:
   * objects that came as bytes are decoded as a whole only when they are wanted.
   */
  select(isWanted: (object: Stored<KubeObject>) => boolean, namespace?: string): readonly Stored<KubeObject>[] {
    if (namespace !== undefined) this.#namespaces ??= this.#readNamespaces();
    const keys = namespace === undefined ? this.#entries.keys() : (this.#namespaces?.get(namespace) ?? []);
    const found: Stored<KubeObject>[] = [];
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry === undefined || !isWanted(this.#lazy(entry))) continue;
      found.push(typeof entry === "number" ? this.#raw.read(entry) : entry);
    }
    return found;
  }

  hasIndex(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** Whether the index has the object under the value; undefined when there is no such index. */
  isIndexed(name: string, value: string, object: Stored<KubeObject>): boolean | undefined {
    return this.#indexes.get(name)?.hasValue(object, value);
  }

  byIndex(name: string, value: string): readonly Stored<KubeObject>[] {
    return this.#objects(this.#indexes.get(name)?.find(value) ?? []);
  }

  set(key: string, object: Stored<KubeObject>): void {
    this.delete(key);
    this.#entries.set(key, object);
    this.#noteNamespace(key);
    for (const index of this.#indexes.values()) index.add(key, object);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#namespaces?.get(namespaceOf(key))?.delete(key);
    this.#unindex(key, entry);
    if (typeof entry === "number") this.#raw.remove(entry);
  }

  /** Keeps an object's bytes without showing them yet; `scan` has just read them. */
  stage(bytes: Uint8Array, scan: ObjectScan): RawHandle {
    return this.#raw.add(bytes, scan);
  }

  stagedVersion(handle: RawHandle): ObjectVersion {
    return this.#raw.versionOf(handle);
  }

  /** Drops staged bytes. */
  unstage(handle: RawHandle): void {
    this.#raw.remove(handle);
  }

  /** Stores staged bytes under a key; returns the object. */
  setStaged(key: string, handle: RawHandle): Stored<KubeObject> {
    this.delete(key);
    this.#entries.set(key, handle);
    this.#noteNamespace(key);
    const object = this.#raw.lazy(handle);
    for (const index of this.#indexes.values())
      if (index !== this.#owners || this.#raw.hasOwners(handle)) index.add(key, object);
    return object;
  }

  #unindex(key: string, entry: Entry): void {
    if (this.#indexes.size === 1 && typeof entry === "number" && !this.#raw.hasOwners(entry)) return;
    const object = this.#lazy(entry);
    for (const index of this.#indexes.values()) index.remove(key, object);
  }

  #objects(keys: Iterable<string>): readonly Stored<KubeObject>[] {
    const found: Stored<KubeObject>[] = [];
    for (const key of keys) {
      const object = this.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  #lazy(entry: Entry): Stored<KubeObject> {
    return typeof entry === "number" ? this.#raw.lazy(entry) : entry;
  }

  /** Built on first use: many kinds are never listed by namespace. */
  #readNamespaces(): Map<string, Set<string>> {
    this.#namespaces = new Map();
    for (const key of this.#entries.keys()) this.#noteNamespace(key);
    return this.#namespaces;
  }

  #noteNamespace(key: string): void {
    if (this.#namespaces === undefined) return;
    const namespace = namespaceOf(key);
    const keys = this.#namespaces.get(namespace);
    if (keys === undefined) this.#namespaces.set(namespace, new Set([key]));
    else keys.add(key);
  }
}

function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? "" : key.slice(0, slash);
}

function noValues(): readonly string[] {
  return [];
}

function ownerUids(object: Stored<KubeObject>): readonly string[] {
  const owner = controllerOf(object);
  return owner === undefined ? [] : [owner.uid];
}
