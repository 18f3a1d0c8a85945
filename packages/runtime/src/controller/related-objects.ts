/** Which objects of another kind an object depends on: said by the author's function, object by object. */
import { SetpointError, type KubeObject, type NamespacedName } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { errControllerInvalid } from "../errors.ts";
import type { ObjectsByKind, KindsByName, RelatedSelector } from "./pure-form.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import type { CacheReader, WatchDefinition } from "./watch-definition.ts";

/** What an object depends on. */
interface Dependence {
  readonly key: NamespacedName;
  readonly by: Readonly<Record<string, RelatedSelector>>;
  readonly cluster: string | undefined;
}

/** Where the objects of one run are read. */
export type RelatedReader = CacheReader & Pick<ReconcileContext, "controller">;

/** So few are not worth looking whether their objects are still there. */
const sweepMin = 64;

/**
 * What each object depends on, kept from its last run: who is woken by a change follows from it. Of objects
 * that are gone never more is kept than of those that are there.
 */
export class RelatedObjects {
  readonly #kind: KindRef;
  readonly #kinds: KindsByName;
  /** By UID; of objects that depend on none there is nothing. */
  readonly #selectors = new Map<string, Dependence>();
  #sweepAt = sweepMin;

  constructor(kind: KindRef, kinds: KindsByName) {
    this.#kind = kind;
    this.#kinds = kinds;
  }

  /** Objects of which something is kept. */
  get size(): number {
    return this.#selectors.size;
  }

  /** The related objects of an object, by the name of their kind. */
  of(object: Stored<KubeObject>, by: Readonly<Record<string, RelatedSelector>>, cache: RelatedReader): ObjectsByKind {
    const { name, namespace, uid } = object.metadata;
    const key = namespace === undefined ? { name } : { name, namespace };
    for (const [kindName, selector] of Object.entries(by)) this.#check(object, kindName, selector);
    if (Object.keys(by).length === 0) this.#selectors.delete(uid);
    else this.#selectors.set(uid, { key, by, cluster: cache.controller.cluster });
    if (this.#selectors.size > this.#sweepAt) this.#sweep(cache);
    return Object.fromEntries(
      Object.entries(this.#kinds).map(([kindName, kind]) => {
        const selector = by[kindName];
        const all = selector === undefined ? [] : cache.list(kind, { allNamespaces: true });
        return [kindName, all.filter((each) => selector !== undefined && isSelected(each, selector, kind, key))];
      }),
    );
  }

  /** Watches that wake the objects which depend on what has changed. */
  watches(): readonly WatchDefinition[] {
    return Object.entries(this.#kinds).map(([kindName, kind]) => ({
      of: kind,
      wakes: (related, cache) => this.#dependents(kindName, kind, related, cache),
    }));
  }

  #dependents(
    kindName: string,
    kind: KindRef,
    related: Stored<KubeObject>,
    cache: CacheReader,
  ): readonly NamespacedName[] {
    const woken: NamespacedName[] = [];
    for (const [uid, { key, by }] of this.#selectors) {
      const selector = by[kindName];
      if (selector === undefined || !isSelected(related, selector, kind, key)) continue;
      if (this.#isThere(uid, key, cache)) woken.push(key);
    }
    return woken;
  }

  /**
   * Forgets what is gone, so seldom that it costs each object little. Of other clusters this cache knows
   * nothing.
   */
  #sweep(cache: RelatedReader): void {
    for (const [uid, { key, cluster }] of this.#selectors)
      if (cluster === cache.controller.cluster && !this.#isThere(uid, key, cache)) this.#selectors.delete(uid);
    this.#sweepAt = Math.max(sweepMin, 2 * this.#selectors.size);
  }

  #isThere(uid: string, { name, namespace }: NamespacedName, cache: CacheReader): boolean {
    return cache.get(this.#kind, name, namespace)?.metadata.uid === uid;
  }

  #check(object: Stored<KubeObject>, kindName: string, { namespace }: RelatedSelector): void {
    const what = `Cannot relate ${object.kind} "${object.metadata.name}" to "${kindName}"`;
    if (this.#kinds[kindName] === undefined)
      throw new SetpointError(errControllerInvalid, `${what}: the controller has no related kind of this name`);
    const own = object.metadata.namespace;
    if (own !== undefined && namespace !== undefined && namespace !== own)
      throw new SetpointError(
        errControllerInvalid,
        `${what}: an object in namespace "${own}" cannot look into namespace "${namespace}"`,
      );
  }
}

function isSelected(
  object: Stored<KubeObject>,
  { namespace, names, labels = {} }: RelatedSelector,
  kind: KindRef,
  parent: NamespacedName,
): boolean {
  const { metadata } = object;
  const place = namespace ?? parent.namespace;
  if (kind.namespaced && place !== undefined && metadata.namespace !== place) return false;
  if (names !== undefined && !names.includes(metadata.name)) return false;
  return Object.entries(labels).every(([label, value]) => metadata.labels?.[label] === value);
}
