import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { InformerOptions } from "./informer.ts";
import type { IndexFunction } from "./store.ts";

/** How the objects of one kind are cached. */
export interface KindCacheOptions extends InformerOptions {
  readonly kind: KindRef;
  /** Indexes by name: `list(Pod, { allNamespaces: true, index: { name: "node", value: "node-1" } })`. */
  readonly indexes?: Readonly<Record<string, IndexFunction>>;
}

/** The settings of a kind, whose functions get objects of the kind. */
export interface CacheSettings<T extends KubeObject> extends Omit<InformerOptions, "transform"> {
  /** What is kept of an object; what names the object must stay. */
  transform?(this: void, object: Stored<T>): object;
  readonly indexes?: Readonly<Record<string, (object: Stored<T>) => readonly string[]>>;
}

/** An entry of `caches.kinds`, checked against the kind. */
export function cached<T extends KubeObject>(kind: KindRef<T>, settings: CacheSettings<T>): KindCacheOptions {
  // The cache of a kind holds objects of the kind.
  return { kind, ...settings } as unknown as KindCacheOptions;
}

/** What is cached, and how. */
export interface CacheOptions {
  /**
   * Settings by kind: a selection of its objects, their metadata alone, a projection. An entry with a
   * `namespace` is for that namespace's cache; of several that fit, the first counts. What a controller
   * selects itself goes before them.
   */
  readonly kinds?: readonly KindCacheOptions[];
  /** Whether cached objects are frozen; default true. Costs about half as much as decoding them. */
  readonly freeze?: boolean;
  /**
   * What to do about a cache of all Secrets of all namespaces, with their data: it puts every password of the
   * cluster into this process. Default `warn`.
   */
  readonly unboundedSecrets?: "allow" | "warn" | "refuse";
}

/** The options of a cache: what its user asks for, over what is set for its kind. */
export function informerOptions(options: CacheOptions, kind: KindRef, asked: InformerOptions): InformerOptions {
  const { freeze } = options;
  const { kind: _kind, indexes: _indexes, ...own } = settingsOf(options, kind, asked.namespace) ?? { kind };
  return { ...(freeze === undefined ? {} : { freeze }), ...own, ...asked };
}

/** The settings of a kind in a namespace. */
export function settingsOf(
  { kinds = [] }: CacheOptions,
  kind: KindRef,
  namespace: string | undefined,
): KindCacheOptions | undefined {
  return kinds.find(
    (each) => isSame(each.kind, kind) && (each.namespace === undefined || each.namespace === namespace),
  );
}

export function isUnboundedSecrets(kind: KindRef, options: InformerOptions): boolean {
  const { namespace, labelSelector, fieldSelector, metadataOnly } = options;
  const isBounded = [namespace, labelSelector, fieldSelector].some((each) => each !== undefined);
  return kind.group === "" && kind.kind === "Secret" && !isBounded && metadataOnly !== true;
}

function isSame(a: KindRef, b: KindRef): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind;
}
