import { gvkOf, SetpointError, type GroupVersionKind, type KubeObject } from "@setpoint/apimachinery";
import { groupVersionPath, type KindRef, type Stored } from "@setpoint/client";
import type { Informer } from "../cache/informer.ts";
import type { InformerFactory } from "../cache/informer-factory.ts";
import { ownerIndex, type Store, storeKey } from "../cache/store.ts";
import { errNamespaceMissing, errNotDeclared } from "../errors.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import { isSameKind } from "./same-kind.ts";
import { ownedSelectorOf } from "./owned-selection.ts";
import type { CacheListOptions, CacheReader, ListFilter, Selection } from "./watch-definition.ts";

/** A server sends a bookmark about once a minute, and a silent stream is replaced after two and a half. */
const silenceMsMax = 300_000;

/**
 * One declared kind, and the informers that hold its objects: one, or one for each of the manager's
 * namespaces.
 */
export interface CachedKind {
  readonly kind: KindRef;
  readonly informers: readonly Informer[];
}

/** The caches of one controller: of its own kind, and of those that it owns and watches. */
export class ControllerCache implements CacheReader {
  readonly #controller: string;
  readonly #kinds: CachedKind[] = [];
  /** The same by what was asked with: reconciles read with the same few kinds again and again. */
  readonly #asked = new WeakMap<object, CachedKind>();

  constructor(definition: ControllerDefinition, factory: InformerFactory, namespaces: readonly string[] | undefined) {
    this.#controller = definition.name;
    const declare = (kind: KindRef, { labelSelector, fieldSelector }: Selection): void => {
      if (this.#find(kind) !== undefined) return;
      const selection = {
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      };
      const places =
        kind.namespaced && namespaces !== undefined ? namespaces.map((namespace) => ({ namespace })) : [{}];
      const informers = places.map((place) => factory.informer(kind, { ...selection, ...place }));
      this.#kinds.push({ kind, informers });
    };
    declare(definition.kind, definition.select);
    for (const kind of definition.owns) declare(kind, ownedPart(definition, kind));
    for (const watch of definition.watches) declare(watch.of, watch);
  }

  get informers(): readonly Informer[] {
    return this.#kinds.flatMap((each) => each.informers);
  }

  /** Why what the caches show may be old; undefined while the server speaks of all declared kinds. */
  outdated(): string | undefined {
    for (const { kind, informers } of this.#kinds) {
      const problem = informers.map((each) => each.problem).find((each) => each !== undefined);
      if (problem !== undefined) return problem;
      const isSilent = informers.some((each) => (each.silentForMs() ?? 0) > silenceMsMax);
      if (isSilent)
        return `The server has said nothing of ${kind.plural} for more than ${silenceMsMax / 60_000} minutes`;
    }
    return undefined;
  }

  /** The declared kind; throws `ERR_NOT_DECLARED`. */
  of(kind: KindRef): CachedKind {
    const known = this.#asked.get(kind);
    if (known !== undefined) return known;
    const found = this.#declared(kind);
    this.#asked.set(kind, found);
    return found;
  }

  /** The declared kind of an object; undefined when it is of none. */
  findOf(object: Pick<KubeObject, "apiVersion" | "kind">): CachedKind | undefined {
    return this.#find(gvkOf(object));
  }

  /** The declared kind of an object; throws `ERR_NOT_DECLARED`. */
  ofObject(object: Pick<KubeObject, "apiVersion" | "kind">): CachedKind {
    return this.#declared(gvkOf(object));
  }

  #find(kind: GroupVersionKind): CachedKind | undefined {
    return this.#kinds.find((each) => isSameKind(each.kind, kind));
  }

  #declared(kind: GroupVersionKind): CachedKind {
    const found = this.#find(kind);
    if (found !== undefined) return found;
    const message = `Cannot use ${kind.kind} in controller "${this.#controller}": name it in \`owns\` or \`watches\``;
    throw new SetpointError(errNotDeclared, message);
  }

  /** What an API path is about, if that is an object of a declared kind. */
  keyOfPath(path: string): { readonly kind: KindRef; readonly name: string; readonly namespace?: string } | undefined {
    for (const { kind } of this.#kinds) {
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
    const key = kind.namespaced ? { namespace, name } : { name };
    // The informer of a kind holds objects of that kind.
    return this.at(kind, namespace, storeKey(key)) as Stored<T> | undefined;
  }

  /** The object of a key in the caches, which is in this namespace. */
  at(kind: KindRef, namespace: string | undefined, key: string): Stored<KubeObject> | undefined {
    return this.informerOf(kind, namespace)?.store.get(key);
  }

  list<T extends KubeObject>(kind: KindRef<T>, options: CacheListOptions): readonly Stored<T>[] {
    const { index, labels } = options;
    const namespace = listedNamespace(kind, options);
    const isWanted = (object: Stored<KubeObject>): boolean => matches(object, namespace, labels);
    if (index !== undefined) {
      this.#requireIndex(kind, index.name);
      // Objects of a kind have the type of the kind.
      return this.#ofAll(kind, (store) => store.byIndex(index.name, index.value)).filter(isWanted) as Stored<T>[];
    }
    // Objects of a kind have the type of the kind.
    return this.#ofAll(kind, (store) => store.select(isWanted, namespace)) as readonly Stored<T>[];
  }

  /** Whether an object, which the caches may not show yet, is one of those that the options ask for. */
  isListed(kind: KindRef, object: Stored<KubeObject>, options: CacheListOptions): boolean {
    const { index, labels } = options;
    const store = this.informerOf(kind, object.metadata.namespace)?.store;
    const isIndexed = index === undefined || store?.isIndexed(index.name, index.value, object) === true;
    return isIndexed && matches(object, listedNamespace(kind, options), labels);
  }

  #requireIndex(kind: KindRef, name: string): void {
    if (this.of(kind).informers.every(({ store }) => store.hasIndex(name))) return;
    const message = `Cannot list ${kind.kind} by index "${name}": add it to \`indexes\` of the kind in \`caches\``;
    throw new SetpointError(errNotDeclared, message);
  }

  ownedBy(kind: KindRef, uid: string): readonly Stored<KubeObject>[] {
    return this.#ofAll(kind, (store) => store.byIndex(ownerIndex, uid));
  }

  #ofAll(kind: KindRef, read: (store: Store) => readonly Stored<KubeObject>[]): readonly Stored<KubeObject>[] {
    const { informers } = this.of(kind);
    const [first] = informers;
    // Nearly always there is one.
    if (first !== undefined && informers.length === 1) return read(first.store);
    return informers.flatMap(({ store }) => read(store));
  }
}

/** What the controller owns of the kind, for a watch that shows no more. */
function ownedPart({ ownedSelections }: ControllerDefinition, kind: KindRef): Selection {
  const labelSelector = ownedSelectorOf(ownedSelections, kind);
  return labelSelector === undefined ? {} : { labelSelector };
}

/** Part of a path; one that an author has written and nobody can decode is itself. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The one namespace of a list; undefined for all, and for a kind without namespaces. */
function listedNamespace(kind: KindRef, { namespace, allNamespaces }: CacheListOptions): string | undefined {
  if (allNamespaces === true || !kind.namespaced) return undefined;
  if (namespace !== undefined) return namespace;
  const message = `Cannot list ${kind.kind}: no namespace is given; set \`namespace\`, or \`allNamespaces: true\``;
  throw new SetpointError(errNamespaceMissing, message);
}

function matches(object: KubeObject, namespace: string | undefined, labels: ListFilter["labels"]): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (labels === undefined) return true;
  return Object.entries(labels).every(([name, value]) => object.metadata.labels?.[name] === value);
}
