import { apiVersionOf, copyObject, deepFreeze, setOwn, type JsonObject, type KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, ObjectScan, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { checkedTransform } from "./checked-transform.ts";
import { decodeObject } from "./decode-object.ts";
import { FirstList } from "./first-list.ts";
import { Reflector, type ReflectorOptions } from "./reflector.ts";
import type { ReflectorTarget, StagedObjects } from "./reflector-target.ts";
import { compareResourceVersions } from "./resource-version.ts";
import { StagedList } from "./staged-list.ts";
import { type ObjectVersion, Store, storeKey } from "./store.ts";

/**
 * Told of changes of the cache, after the cache shows them. Handlers must not throw and not wait; what one throws is logged once,
 * and the others are told all the same.
 */
export interface InformerHandler {
  /** `key` is the object's, so that nobody needs to decode its metadata for that, or to make another text of it. */
  onAdd?(object: Stored<KubeObject>, key: string): void;
  onUpdate?(old: Stored<KubeObject>, next: Stored<KubeObject>, key: string): void;
  /** The cluster has gone back in time: an object that stays is as it was then, whatever its revision says. Default: `onUpdate`. */
  onRestored?(old: Stored<KubeObject>, next: Stored<KubeObject>, key: string): void;
  /** `object` is the last known state. */
  onDelete?(object: Stored<KubeObject>): void;
}

/** Changes an object before it is stored; must not change its argument, and must keep name, namespace, uid and resourceVersion. */
export type Transform = (object: Stored<KubeObject>) => Stored<KubeObject>;

export interface InformerOptions extends ReflectorOptions {
  /** Default: drops managedFields, which nobody reads from a cache and which are often half of an object. */
  readonly transform?: Transform;
  /** Whether objects are frozen, so that changing one throws where it is done; costs about half as much as decoding. Default true. */
  readonly freeze?: boolean;
}

/** A stream without a word for so long is not trusted any more; two watchdogs of the reflector and some time. */
const freshnessMsMax = 400_000;

/** A cache of the objects of one kind, kept up to date by a watch and shared by everybody who needs it. */
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
  readonly #handlers = new Set<InformerHandler>();
  /** Handlers whose first error has been logged. */
  readonly #broken = new WeakSet<InformerHandler>();
  readonly #waiters = new Set<() => void>();
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;
  #seen = "";
  #history = 0;
  /** Until the next complete list no revision that is there counts. */
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
    const target: ReflectorTarget = {
      replace: (objects) => this.#replace(objects),
      set: (object) => this.#set(object),
      remove: (object) => this.#remove(object),
      progress: (resourceVersion) => this.#progress(resourceVersion),
      restored: () => this.#restored(),
      stage: () => this.#stage(target),
      setRaw: (bytes, scan) => this.#setRaw(bytes, scan),
      removeRaw: (scan) => this.#removeNamed(scan.key(), scan.uidText()),
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

  /** Whether the server has been heard of lately. */
  get isFresh(): boolean {
    return (this.#reflector.silentForMs() ?? Number.POSITIVE_INFINITY) < freshnessMsMax;
  }

  silentForMs(): number | undefined {
    return this.#reflector.silentForMs();
  }

  /** Why it cannot be filled, when a person has to do something about it. */
  get problem(): string | undefined {
    return this.#reflector.problem;
  }

  /** Whether what it shows may be of a history that is no more. */
  get isDoubtful(): boolean {
    return this.#reflector.isDoubtful;
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  /** Lists anew, so that after it the cache is not older than this call; a list that was begun within the last 5 s is enough. */
  refresh(): void {
    this.#reflector.refresh();
  }

  /** A new handler is told of all present objects at once. Call the returned function to end it. */
  addHandler(handler: InformerHandler): () => void {
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

  /** Counts the histories of the cluster; what was written in an earlier one is never seen. */
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
    // A waiter that ends itself meanwhile does no harm to the iteration of a Set.
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
    if (!this.#makeWay(key, () => object.metadata)) return;
    const before = this.store.lazy(key);
    const next = (this.#transform ?? withoutManagedFields)(object);
    if (this.#freeze) deepFreeze(next);
    this.store.set(key, next);
    this.#tell(key, before, next);
  }

  #setRaw(bytes: Uint8Array, scan: ObjectScan): void {
    const key = scan.key();
    if (!this.#makeWay(key, () => versionOf(scan))) return;
    const kept = this.#converted(bytes);
    if (kept === bytes || scan.scan(kept)) this.#showStaged(key, this.store.stage(kept, scan));
  }

  /** What is stored of bytes: a transform gets the decoded object, and what it returns becomes bytes again. */
  #converted(bytes: Uint8Array): Uint8Array {
    if (this.#transform === undefined) return bytes;
    return encoder.encode(JSON.stringify(this.#transform(decodeObject(bytes))));
  }

  /** Shows bytes of a list; an object that is newer than the list stays. */
  #showRaw(key: string, slot: number): void {
    if (this.#makeWay(key, () => this.store.stagedVersion(slot))) this.#showStaged(key, slot);
    else this.store.release(slot);
  }

  #showStaged(key: string, slot: number): void {
    const before = this.store.lazy(key);
    const next = this.store.showStaged(key, slot);
    this.#tell(key, before, next);
  }

  /** Whether an object of this version, read only if there is one already, is to be shown. A namesake with another UID is a stranger: the old object went away. */
  #makeWay(key: string, versionOf: () => ObjectVersion): boolean {
    const before = this.store.versionOf(key);
    if (before === undefined) return true;
    const next = versionOf();
    if (!this.#isRestored && compareResourceVersions(next.resourceVersion, before.resourceVersion) <= 0) return false;
    if (before.uid !== next.uid) this.#drop(key);
    return true;
  }

  #tell(key: string, before: Stored<KubeObject> | undefined, next: Stored<KubeObject>): void {
    for (const handler of this.#handlers) {
      try {
        if (before === undefined) handler.onAdd?.(next, key);
        else if (this.#isRestored && handler.onRestored !== undefined) handler.onRestored(before, next, key);
        else handler.onUpdate?.(before, next, key);
      } catch (error) {
        this.#noteThrown(handler, next, error);
      }
    }
  }

  /** The cache shows the change already, and the stream will not bring it again: nobody else may miss it. */
  #noteThrown(handler: InformerHandler, { metadata }: Stored<KubeObject>, error: unknown): void {
    if (this.#broken.has(handler)) return;
    this.#broken.add(handler);
    const fields = { resource: this.kind.plural, object: storeKey(metadata), error };
    this.#host.log.error("Handler of an informer threw, which is said once", fields);
  }

  #remove(object: Stored<KubeObject>): void {
    this.#removeNamed(storeKey(object.metadata), object.metadata.uid);
  }

  #removeNamed(key: string, uid: string): void {
    // A namesake that is newer than this deletion stays.
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
        this.#noteThrown(handler, object, error);
      }
    }
  }

  #stage(target: ReflectorTarget): StagedObjects {
    const { store } = this;
    if (!this.#isSynced && store.size === 0) return new FirstList(target);
    return new StagedList({
      clock: this.#host.clock,
      store,
      isRestored: () => this.#isRestored,
      convert: (bytes) => this.#converted(bytes),
      decode: decodeObject,
      showRaw: (key, slot) => this.#showRaw(key, slot),
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
  const copy = copyObject(object);
  copy.metadata = withoutField(object.metadata, "managedFields");
  return copy;
}

/** Not by a spread, which takes twice as long of objects that are frozen and of many shapes, as those of a server in the same process. */
function withoutField<T extends object>(source: T, name: keyof T & string): T {
  const fields = source as JsonObject;
  const copy: Record<string, unknown> = {};
  for (const key in fields) {
    const value = fields[key];
    if (key !== name && value !== undefined) setOwn(copy, key, value);
  }
  // The field that is gone is optional.
  return copy as T;
}
