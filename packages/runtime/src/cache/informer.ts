import { encodeJson, apiVersionOf, deepFreeze, type KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, ObjectScan, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { checkedTransform, type Transform } from "./checked-transform.ts";
import { decodeObject } from "./raw/decode-object.ts";
import { FirstList } from "./raw/first-list.ts";
import { Reflector, type ReflectorOptions } from "./reflector.ts";
import type { ReflectorStore, StagedObjects } from "./reflector-store.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { StagedList } from "./raw/staged-list.ts";
import type { ObjectVersion, RawHandle } from "./raw/raw-object-store.ts";
import { Store, storeKey } from "./store.ts";

/**
 * Called after the cache shows a change. Handlers must not throw and not wait. The first error of a handler
 * is logged, and the other handlers still run.
 */
export interface ResourceEventHandler {
  /** `key` is the object's key in the store. */
  onAdd?(object: Stored<KubeObject>, key: string): void;
  onUpdate?(old: Stored<KubeObject>, next: Stored<KubeObject>, key: string): void;
  /**
   * The cluster was restored from a backup: the object has its earlier state, whatever its revision is.
   * Default: `onUpdate`.
   */
  onRestored?(old: Stored<KubeObject>, next: Stored<KubeObject>, key: string): void;
  /** `object` is the last known state. */
  onDelete?(object: Stored<KubeObject>): void;
}

/** Options of an informer, beside those of its reflector. */
export interface InformerOptions extends ReflectorOptions {
  /**
   * Default: drops managedFields. A reconcile does not read them from a cache, and they are often half of an
   * object.
   */
  readonly transform?: Transform;
  /**
   * Whether to freeze objects, so that code that mutates one throws. It costs about half as much as decoding.
   * Default true.
   */
  readonly freeze?: boolean;
}

/**
 * A cache whose stream is silent for so long is not fresh: two timeouts of the reflector's watchdog and a
 * margin.
 */
const freshnessMsMax = 400_000;

/**
 * A cache of the objects of one kind, kept up to date by a watch and shared by all controllers that need it.
 */
export class Informer {
  readonly kind: KindRef;
  /** The one namespace that it holds; undefined: all. */
  readonly namespace: string | undefined;
  /** Whether it holds only a part of the objects of its kind and namespace, by labels or fields. */
  readonly isSelective: boolean;
  readonly store: Store;
  readonly #host: Host;
  readonly #reflector: Reflector;
  readonly #transform: Transform | undefined;
  readonly #freeze: boolean;
  readonly #handlers = new Set<ResourceEventHandler>();
  /** Handlers whose first error has been logged. */
  readonly #broken = new WeakSet<ResourceEventHandler>();
  readonly #waiters = new Set<() => void>();
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;
  #seen = "";
  #history = 0;
  /** After a restore, until the next complete list: revisions of cached objects mean nothing. */
  #isRestored = false;

  constructor(client: Client, host: Host, kind: KindRef, options: InformerOptions) {
    const { transform, freeze = true, ...selection } = options;
    this.kind = kind;
    this.namespace = options.namespace;
    this.isSelective = options.labelSelector !== undefined || options.fieldSelector !== undefined;
    // Metadata alone comes under a type of its own.
    const type =
      options.metadataOnly === true
        ? { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" }
        : { apiVersion: apiVersionOf(kind), kind: kind.kind };
    this.store = new Store({ type, freeze, packer: host.packer, log: host.log.with({ resource: kind.plural }) });
    this.#host = host;
    this.#transform = transform === undefined ? undefined : checkedTransform(kind, transform);
    this.#freeze = freeze;
    const target: ReflectorStore = {
      replace: (objects) => this.#replace(objects),
      set: (object) => this.#set(object),
      remove: (object) => this.#remove(object),
      progress: (resourceVersion) => this.#progress(resourceVersion),
      restored: () => this.#restored(),
      stage: () => this.#stage(target),
      setRaw: (bytes, scan) => this.#setRaw(bytes, scan),
      removeRaw: (scan) => this.#removeIfSame(scan.key(), scan.uidText()),
    };
    this.#reflector = new Reflector(client, host, kind, selection, target);
  }

  /** Resolves when the cache has held a complete list. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Whether the stream is fresh: the server has sent something in the last 400 s. */
  get isFresh(): boolean {
    return (this.#reflector.silentForMs() ?? Number.POSITIVE_INFINITY) < freshnessMsMax;
  }

  silentForMs(): number | undefined {
    return this.#reflector.silentForMs();
  }

  /** Why the cache cannot be filled, when a user has to act. */
  get problem(): string | undefined {
    return this.#reflector.problem;
  }

  /** Whether the cluster may have been restored from a backup, so that the cache shows a lost state. */
  get isDoubtful(): boolean {
    return this.#reflector.isDoubtful;
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  /**
   * Relists, so that afterwards the cache is no older than this call. Does nothing if a list started within
   * the last 5 s.
   */
  refresh(): void {
    this.#reflector.refresh();
  }

  /** Calls `onAdd` for all present objects at once. Call the returned function to remove the handler. */
  addHandler(handler: ResourceEventHandler): () => void {
    this.#handlers.add(handler);
    if (handler.onAdd !== undefined) for (const [key, object] of this.store.lazyEntries()) handler.onAdd(object, key);
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

  /** Counts the restores of the cluster; writes from before a restore never show. */
  get history(): number {
    return this.#history;
  }

  #restored(): void {
    this.#history++;
    this.#isRestored = true;
  }

  #progress(resourceVersion: string): void {
    this.#seen = resourceVersion;
    this.#isRestored = false;
    if (!this.#isSynced) {
      this.#isSynced = true;
      this.#synced.resolve();
    }
    // A Set may be changed during iteration: a callback may remove itself.
    for (const waiter of this.#waiters) waiter();
  }

  #replace(objects: readonly Stored<KubeObject>[]): void {
    const gone = new Set(this.store.keys());
    for (const object of objects) {
      if (gone.size > 0) gone.delete(storeKey(object.metadata));
      this.#set(object);
    }
    for (const key of gone) this.#drop(key);
  }

  #set(object: Stored<KubeObject>): void {
    const key = storeKey(object.metadata);
    if (!this.#isNews(key, object.metadata)) return;
    const before = this.store.lazy(key);
    const next = (this.#transform ?? withoutManagedFields)(object);
    if (this.#freeze) deepFreeze(next);
    this.store.set(key, next);
    this.#notify(key, before, next);
  }

  #setRaw(bytes: Uint8Array, scan: ObjectScan): void {
    const key = scan.key();
    if (!this.#isNews(key, versionOf(scan))) return;
    const kept = this.#converted(bytes);
    if (kept === bytes || scan.scan(kept)) this.#showStaged(key, this.store.stage(kept, scan));
  }

  /** The bytes to store: a transform gets the decoded object, and its result is encoded again. */
  #converted(bytes: Uint8Array): Uint8Array {
    if (this.#transform === undefined) return bytes;
    return encoder.encode(encodeJson(this.#transform(decodeObject(bytes))));
  }

  /** Stores staged bytes of a list; a cached object that is newer than the list stays. */
  #showRaw(key: string, handle: RawHandle): void {
    if (this.#isNews(key, this.store.stagedVersion(handle))) this.#showStaged(key, handle);
    else this.store.unstage(handle);
  }

  #showStaged(key: string, handle: RawHandle): void {
    const before = this.store.lazy(key);
    const next = this.store.setStaged(key, handle);
    this.#notify(key, before, next);
  }

  /**
   * Whether this version is newer than the cached one. A cached object with another UID was deleted
   * meanwhile, so it is dropped.
   */
  #isNews(key: string, next: ObjectVersion): boolean {
    const before = this.store.versionOf(key);
    if (before === undefined) return true;
    if (!this.#isRestored && compareResourceVersions(next.resourceVersion, before.resourceVersion) <= 0) return false;
    if (before.uid !== next.uid) this.#drop(key);
    return true;
  }

  #notify(key: string, before: Stored<KubeObject> | undefined, next: Stored<KubeObject>): void {
    for (const handler of this.#handlers) {
      try {
        if (before === undefined) handler.onAdd?.(next, key);
        else if (this.#isRestored && handler.onRestored !== undefined) handler.onRestored(before, next, key);
        else handler.onUpdate?.(before, next, key);
      } catch (error) {
        this.#logThrown(handler, next, error);
      }
    }
  }

  /** A handler's error must not hide the change from the others: the stream does not send it again. */
  #logThrown(handler: ResourceEventHandler, { metadata }: Stored<KubeObject>, error: unknown): void {
    if (this.#broken.has(handler)) return;
    this.#broken.add(handler);
    const fields = { resource: this.kind.plural, object: storeKey(metadata), error };
    this.#host.log.error("Informer event handler threw; further errors of it are not logged", fields);
  }

  #remove(object: Stored<KubeObject>): void {
    this.#removeIfSame(storeKey(object.metadata), object.metadata.uid);
  }

  #removeIfSame(key: string, uid: string): void {
    // An object of the same name that was created after this deletion stays.
    if (this.store.versionOf(key)?.uid === uid) this.#drop(key);
  }

  #drop(key: string): void {
    const object = this.store.lazy(key);
    if (object === undefined) return;
    this.store.delete(key);
    for (const handler of this.#handlers) {
      try {
        handler.onDelete?.(object);
      } catch (error) {
        this.#logThrown(handler, object, error);
      }
    }
  }

  #stage(target: ReflectorStore): StagedObjects {
    const { store } = this;
    if (!this.#isSynced && store.size === 0) return new FirstList(target);
    return new StagedList({
      clock: this.#host.clock,
      store,
      isRestored: () => this.#isRestored,
      convert: (bytes) => this.#converted(bytes),
      decode: decodeObject,
      showRaw: (key, handle) => this.#showRaw(key, handle),
      show: (object) => this.#set(object),
      drop: (key) => this.#drop(key),
    });
  }
}

const encoder = new TextEncoder();

function versionOf(scan: ObjectScan): ObjectVersion {
  return { uid: scan.uidText(), resourceVersion: scan.resourceVersionText() };
}

function withoutManagedFields(object: Stored<KubeObject>): Stored<KubeObject> {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
