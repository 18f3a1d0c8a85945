import { gvkOf, SetpointError, type KubeObject } from "@setpoint/apimachinery";
import { groupVersionPath, type KindRef, type Stored } from "@setpoint/client";
import type { Informer } from "../cache/informer.ts";
import type { InformerFactory } from "../cache/informer-factory.ts";
import { ownerIndex, storeKey } from "../cache/store.ts";
import { errNotDeclared } from "../errors.ts";
import type { CacheReader, ControllerDefinition, Selection } from "./controller-definition.ts";
import type { ListOptions } from "./reconcile-context.ts";

/** One declared kind, and the informers that hold its objects: one, or one for each of the manager's namespaces. */
export interface CachedKind {
  readonly kind: KindRef;
  readonly informers: readonly Informer[];
}

/** The caches of one controller: of its own kind, and of those that it owns and watches. */
export class ControllerCache implements CacheReader {
  readonly #controller: string;
  readonly #kinds = new Map<string, CachedKind>();

  constructor(definition: ControllerDefinition, factory: InformerFactory, namespaces: readonly string[] | undefined) {
    this.#controller = definition.name;
    const declare = (kind: KindRef, { labelSelector, fieldSelector }: Selection): void => {
      const selection = {
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      };
      const places =
        kind.namespaced && namespaces !== undefined ? namespaces.map((namespace) => ({ namespace })) : [{}];
      const informers = places.map((place) => factory.informer(kind, { ...selection, ...place }));
      const id = kindId(kind);
      if (!this.#kinds.has(id)) this.#kinds.set(id, { kind, informers });
    };
    declare(definition.kind, definition.select);
    for (const kind of definition.owns) declare(kind, {});
    for (const watch of definition.watches) declare(watch.of, watch);
  }

  get informers(): readonly Informer[] {
    return [...this.#kinds.values()].flatMap((each) => each.informers);
  }

  /** The declared kind; throws `ERR_NOT_DECLARED`. */
  of(kind: { readonly group: string; readonly version: string; readonly kind: string }): CachedKind {
    const found = this.#kinds.get(kindId(kind));
    if (found !== undefined) return found;
    const message = `Cannot use ${kind.kind} in controller "${this.#controller}": name it in \`owns\` or \`watches\``;
    throw new SetpointError(errNotDeclared, message);
  }

  /** Whether the object is of a declared kind. */
  holds(object: Pick<KubeObject, "apiVersion" | "kind">): boolean {
    return this.#kinds.has(kindId(gvkOf(object)));
  }

  /** The declared kind of an object. */
  ofObject(object: Pick<KubeObject, "apiVersion" | "kind">): CachedKind {
    return this.of(gvkOf(object));
  }

  /** What an API path is about, if that is an object of a declared kind. */
  keyOfPath(path: string): { readonly kind: KindRef; readonly name: string; readonly namespace?: string } | undefined {
    for (const { kind } of this.#kinds.values()) {
      const base = `${groupVersionPath(kind)}/`;
      if (!path.startsWith(base)) continue;
      const parts = path.slice(base.length).split("/").map(decoded);
      const [plural, name, ...rest] = kind.namespaced ? parts.slice(2) : parts;
      if (plural !== kind.plural || name === undefined || rest.length > 0) continue;
      const [place, namespace] = parts;
      if (!kind.namespaced) return { kind, name };
      if (place === "namespaces" && namespace !== undefined) return { kind, name, namespace };
    }
    return undefined;
  }

  /** The informer that would hold this object, undefined when its namespace is not looked at. */
  informerOf(kind: KindRef, namespace: string | undefined): Informer | undefined {
    const { informers } = this.of(kind);
    if (informers.length === 1 && informers[0]?.namespace === undefined) return informers[0];
    return informers.find((each) => each.namespace === namespace);
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: string, namespace?: string): Stored<T> | undefined {
    // The informer of a kind holds objects of that kind.
    const key = kind.namespaced ? { namespace, name } : { name };
    return this.informerOf(kind, namespace)?.store.get(storeKey(key)) as Stored<T> | undefined;
  }

  list<T extends KubeObject>(kind: KindRef<T>, options: ListOptions = {}): readonly Stored<T>[] {
    // Objects of a kind have the type of the kind.
    return this.of(kind).informers.flatMap(({ store }) =>
      store.select((object) => matches(object, options), options.namespace),
    ) as readonly Stored<KubeObject>[] as readonly Stored<T>[];
  }

  ownedBy(kind: KindRef, uid: string): readonly Stored<KubeObject>[] {
    return this.of(kind).informers.flatMap(({ store }) => store.byIndex(ownerIndex, uid));
  }
}

/** Part of a path; one that an author has written and nobody can decode is itself. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Whether an object is one of those that the options ask for. */
export function matches(object: KubeObject, { namespace, labels }: ListOptions): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return Object.entries(labels ?? {}).every(([name, value]) => object.metadata.labels?.[name] === value);
}

export function kindId({
  group,
  version,
  kind,
}: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): string {
  return `${group}/${version}/${kind}`;
}
