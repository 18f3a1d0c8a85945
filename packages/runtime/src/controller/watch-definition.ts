import type { KubeObject, NamespacedName } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";

/** Which of the cached objects of a namespace are listed; default: all. */
export interface ListFilter {
  /** Labels that must all have these values. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Objects that an index has under this value; `caches.kinds` declares the indexes of a kind. */
  readonly index?: { readonly name: string; readonly value: string };
}

/** Lists the objects of one namespace. */
export interface OneNamespace extends ListFilter {
  /** As in `object.metadata`: undefined only for a kind without namespaces. */
  readonly namespace: string | undefined;
  readonly allNamespaces?: undefined;
}

/** Lists the objects of all namespaces that the cache follows. */
export interface AllNamespaces extends ListFilter {
  readonly allNamespaces: true;
  readonly namespace?: undefined;
}

/** What a list of cached objects contains. */
export type CacheListOptions = OneNamespace | AllNamespaces;

/** What a list of a reconcile contains. The default namespace is that of the reconciled object. */
export type ListOptions = Partial<OneNamespace> | AllNamespaces;

/** Reads of the cache that a mapping function may make. */
export interface CacheReader {
  get<T extends KubeObject>(kind: KindRef<T>, name: string, namespace?: string): Stored<T> | undefined;
  list<T extends KubeObject>(kind: KindRef<T>, options: CacheListOptions): readonly Stored<T>[];
}

/** Which objects of a kind are looked at; absent: all in the manager's namespaces. */
export interface Selection {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** A kind whose objects are cached, and whose changes may wake objects of the controller's own kind. */
export interface WatchDefinition<T extends KubeObject = KubeObject> extends Selection {
  readonly of: KindRef<T>;
  /** Which keys a changed object wakes; asked for the old and the new state. */
  wakes?(this: void, object: Stored<T>, cache: CacheReader): readonly NamespacedName[];
  /** Whether a change of an object is worth asking `wakes`; default: every change is. */
  predicate?(this: void, old: Stored<T>, next: Stored<T>): boolean;
}
