/** Maps cache events to keys. */
import { parseApiVersion, type KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { guarded } from "../cache/guarded.ts";
import type { Informer } from "../cache/informer.ts";
import { controllerOf, storeKey } from "../cache/store.ts";
import type { ControllerCache } from "../controller/controller-cache.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ChangeKind } from "./run-record.ts";
import type { WatchDefinition } from "../controller/watch-definition.ts";

export interface EventHandlersOptions {
  readonly definition: ControllerDefinition;
  readonly cache: ControllerCache;
  readonly log: Logger;
  enqueue(this: void, key: string, change: ChangeKind, informer: Informer, object: Stored<KubeObject>): void;
  /** Called with an object that has the controller's finalizer and left its selection without a deletion. */
  leftSelection(this: void, object: Stored<KubeObject>): void;
  /**
   * Called with each change of an object of the controller's kind before its key is enqueued, also if no key
   * is.
   */
  changed(this: void, old: Stored<KubeObject>, next: Stored<KubeObject>): void;
}

/**
 * An object of the controller's kind enqueues its own key, an owned object its owner's, a watched object the
 * author's keys.
 */
export class EventHandlers {
  readonly #options: EventHandlersOptions;
  #childCount = 0;

  constructor(options: EventHandlersOptions) {
    this.#options = options;
  }

  /**
   * Number of existing objects with an owner of this controller; counted only for controllers with limits.
   */
  get childCount(): number {
    return this.#childCount;
  }

  register(): void {
    const { cache, definition, enqueue, leftSelection, changed, log } = this.#options;
    const { kind, owns, watches, limits, finalizer } = definition;
    const predicate = guarded("predicate", log.with({ resource: kind.plural }), definition.predicate, () => true);
    for (const informer of cache.of(kind).informers)
      informer.addHandler({
        onAdd: (object, key) => enqueue(key, "added", informer, object),
        onDelete: (object) => {
          const { deletionTimestamp, finalizers = [] } = object.metadata;
          const isUndeleted = deletionTimestamp === undefined && finalizers.includes(finalizer);
          if (informer.isSelective && isUndeleted) leftSelection(object);
          enqueue(storeKey(object.metadata), "deleted", informer, object);
        },
        onUpdate: (old, next, key) => {
          changed(old, next);
          if (predicate(old, next)) enqueue(key, "changed", informer, next);
        },
        // An object of another history may differ where a predicate does not look, at an equal generation.
        onRestored: (old, next, key) => {
          changed(old, next);
          enqueue(key, "changed", informer, next);
        },
      });
    for (const owned of owns) {
      this.#register(cache.of(owned).informers, (object) => this.#ownerKeys(object));
      if (limits !== undefined) this.#countChildren(cache.of(owned).informers);
    }
    for (const watch of watches) {
      if (watch.wakes === undefined) continue;
      const { of, predicate: isWorthIt = anyChange } = watch;
      const isWorthAsking = guarded("watch predicate", log.with({ resource: of.plural }), isWorthIt, anyChange);
      this.#register(cache.of(of).informers, (object) => this.#wokenKeys(watch, object), isWorthAsking);
    }
  }

  #countChildren(informers: readonly Informer[]): void {
    const count = (object: KubeObject): number => this.#ownerKeys(object).length;
    for (const informer of informers)
      informer.addHandler({
        onAdd: (object) => (this.#childCount += count(object)),
        onDelete: (object) => (this.#childCount -= count(object)),
        onUpdate: (old, next) => (this.#childCount += count(next) - count(old)),
      });
  }

  #register(
    informers: readonly Informer[],
    keysOf: (object: Stored<KubeObject>) => readonly string[],
    isWorthIt: WatchDefinition["predicate"] = anyChange,
  ): void {
    for (const informer of informers) {
      const enqueueAll = (keys: readonly string[], change: ChangeKind, object: Stored<KubeObject>): void => {
        for (const key of keys) this.#options.enqueue(key, change, informer, object);
      };
      const enqueueBoth = (old: Stored<KubeObject>, next: Stored<KubeObject>): void => {
        const keys = keysOf(next);
        enqueueAll(keys, "changed", next);
        // A removed owner has lost a child, so the old state counts too.
        enqueueAll(without(keysOf(old), keys), "changed", next);
      };
      informer.addHandler({
        onAdd: (object) => enqueueAll(keysOf(object), "added", object),
        onDelete: (object) => enqueueAll(keysOf(object), "deleted", object),
        onUpdate: (old, next) => isWorthIt(old, next) && enqueueBoth(old, next),
        onRestored: enqueueBoth,
      });
    }
  }

  #ownerKeys(object: KubeObject): readonly string[] {
    const owner = controllerOf(object);
    const { kind } = this.#options.definition;
    if (owner === undefined || owner.kind !== kind.kind || parseApiVersion(owner.apiVersion).group !== kind.group)
      return [];
    return [
      storeKey(kind.namespaced ? { namespace: object.metadata.namespace, name: owner.name } : { name: owner.name }),
    ];
  }

  #wokenKeys(watch: WatchDefinition, object: Stored<KubeObject>): readonly string[] {
    try {
      return (watch.wakes?.(object, this.#options.cache) ?? []).map(storeKey);
    } catch (error) {
      this.#options.log.error("Mapping of a watched object threw", {
        resource: watch.of.plural,
        object: storeKey(object.metadata),
        error,
      });
      return [];
    }
  }
}

function anyChange(): boolean {
  return true;
}

function without(keys: readonly string[], others: readonly string[]): readonly string[] {
  if (keys.length === 0 || (keys.length === 1 && keys[0] === others[0])) return [];
  const known = new Set(others);
  return keys.filter((key) => !known.has(key));
}
