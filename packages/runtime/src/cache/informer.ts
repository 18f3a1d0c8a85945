import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { deepFreeze } from "./freeze.ts";
import { Reflector, type ReflectorOptions } from "./reflector.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { Store, storeKey } from "./store.ts";

/** Told of changes of the cache, after the cache shows them. Handlers must not throw and not wait. */
export interface InformerHandler {
  onAdd?(object: Stored<KubeObject>): void;
  onUpdate?(old: Stored<KubeObject>, next: Stored<KubeObject>): void;
  /** `object` is the last known state. */
  onDelete?(object: Stored<KubeObject>): void;
}

/** Changes an object before it is stored; must not change its argument. */
export type Transform = (object: Stored<KubeObject>) => Stored<KubeObject>;

export interface InformerOptions extends ReflectorOptions {
  /** Default: drops managedFields, which nobody reads from a cache and which are often half of an object. */
  readonly transform?: Transform;
}

/** A stream without a word for so long is not trusted any more; two watchdogs of the reflector and some time. */
const freshnessMsMax = 400_000;

/** A cache of the objects of one kind, kept up to date by a watch and shared by everybody who needs it. */
export class Informer {
  readonly kind: KindRef;
  /** The one namespace that it holds; undefined: all. */
  readonly namespace: string | undefined;
  readonly store: Store = new Store();
  readonly #reflector: Reflector;
  readonly #transform: Transform;
  readonly #handlers = new Set<InformerHandler>();
  readonly #waiters = new Set<() => void>();
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;
  #seen = "";

  constructor(client: Client, host: Host, kind: KindRef, options: InformerOptions) {
    this.kind = kind;
    this.namespace = options.namespace;
    this.#transform = options.transform ?? withoutManagedFields;
    const { transform: _, ...selection } = options;
    this.#reflector = new Reflector(client, host, kind, selection, {
      replace: (objects) => this.#replace(objects),
      set: (object) => this.#set(object),
      remove: (object) => this.#remove(object),
      progress: (resourceVersion) => this.#progress(resourceVersion),
    });
  }

  /** Resolves when the cache has held a complete list. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Whether the server has been heard of lately. */
  get isFresh(): boolean {
    return (this.#reflector.silentForMs() ?? Number.POSITIVE_INFINITY) < freshnessMsMax;
  }

  silentForMs(): number | undefined {
    return this.#reflector.silentForMs();
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  /** Lists anew: after it the cache is not older than this call. */
  refresh(): void {
    this.#reflector.refresh();
  }

  /** A new handler is told of all present objects at once. Call the returned function to end it. */
  addHandler(handler: InformerHandler): () => void {
    this.#handlers.add(handler);
    for (const object of this.store.values()) handler.onAdd?.(object);
    return () => void this.#handlers.delete(handler);
  }

  /** Whether the cache shows everything up to this revision. */
  hasSeen(resourceVersion: string): boolean {
    return this.#seen !== "" && compareResourceVersions(this.#seen, resourceVersion) >= 0;
  }

  /** Calls back after each change and each bookmark, until the returned function is called. */
  onProgress(callback: () => void): () => void {
    this.#waiters.add(callback);
    return () => void this.#waiters.delete(callback);
  }

  #progress(resourceVersion: string): void {
    this.#seen = resourceVersion;
    if (!this.#isSynced) {
      this.#isSynced = true;
      this.#synced.resolve();
    }
    // A waiter that ends itself meanwhile does no harm to the iteration of a Set.
    for (const waiter of this.#waiters) waiter();
  }

  #replace(objects: readonly Stored<KubeObject>[]): void {
    const gone = new Set(this.store.keys());
    for (const object of objects) {
      gone.delete(storeKey(object.metadata));
      this.#set(object);
    }
    for (const key of gone) this.#drop(key);
  }

  #set(object: Stored<KubeObject>): void {
    const key = storeKey(object.metadata);
    let before = this.store.get(key);
    if (before !== undefined && isSameOrOlder(object, before)) return;
    // A namesake with another UID is a stranger: the old object went away.
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) {
      this.#drop(key);
      before = undefined;
    }
    const next = deepFreeze(this.#transform(object));
    this.store.set(key, next);
    for (const handler of this.#handlers) {
      if (before === undefined) handler.onAdd?.(next);
      else handler.onUpdate?.(before, next);
    }
  }

  #remove(object: Stored<KubeObject>): void {
    const key = storeKey(object.metadata);
    // A namesake that is newer than this deletion stays.
    if (this.store.get(key)?.metadata.uid === object.metadata.uid) this.#drop(key);
  }

  #drop(key: string): void {
    const object = this.store.get(key);
    if (object === undefined) return;
    this.store.delete(key);
    for (const handler of this.#handlers) handler.onDelete?.(object);
  }
}

function isSameOrOlder(object: Stored<KubeObject>, old: Stored<KubeObject>): boolean {
  return compareResourceVersions(object.metadata.resourceVersion, old.metadata.resourceVersion) <= 0;
}

function withoutManagedFields(object: Stored<KubeObject>): Stored<KubeObject> {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
