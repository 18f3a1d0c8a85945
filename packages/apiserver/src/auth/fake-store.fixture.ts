/**
 * A store of objects for tests of this folder: only the reader and the watch of the storage.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { Storage, StorageEvent } from "../storage/storage.ts";

export class FakeStore implements ObjectReader, Pick<Storage, "watch" | "revision"> {
  revision = 1;
  readonly #objects = new Map<string, Map<string, UnstructuredObject>>();
  readonly #watches = new Set<{ readonly prefix: string; onEvent(event: StorageEvent): void }>();

  put(group: string, resource: string, object: UnstructuredObject): void {
    const { namespace, name = "" } = object.metadata;
    const path = namespace === undefined ? name : `${namespace}/${name}`;
    this.#of(prefixOf(group, resource)).set(path, object);
    this.#tell(prefixOf(group, resource), { kind: "put", revision: ++this.revision, path, object });
  }

  delete(group: string, resource: string, path: string): void {
    const objects = this.#of(prefixOf(group, resource));
    const object = objects.get(path);
    if (object === undefined) return;
    objects.delete(path);
    this.#tell(prefixOf(group, resource), { kind: "delete", revision: ++this.revision, path, object });
  }

  get(group: string, resource: string, namespace: string, name: string): UnstructuredObject | undefined {
    return this.#of(prefixOf(group, resource)).get(namespace === "" ? name : `${namespace}/${name}`);
  }

  list(group: string, resource: string, namespace?: string): readonly UnstructuredObject[] {
    const all = [...this.#of(prefixOf(group, resource)).values()];
    return namespace === undefined ? all : all.filter((each) => each.metadata.namespace === namespace);
  }

  decided(): readonly UnstructuredObject[] {
    return [];
  }

  watch(prefix: string, _afterRevision: number, onEvent: (event: StorageEvent) => void): { cancel(): void } {
    const watch = { prefix, onEvent };
    this.#watches.add(watch);
    return { cancel: () => this.#watches.delete(watch) };
  }

  #of(prefix: string): Map<string, UnstructuredObject> {
    const known = this.#objects.get(prefix);
    if (known !== undefined) return known;
    const objects = new Map<string, UnstructuredObject>();
    this.#objects.set(prefix, objects);
    return objects;
  }

  #tell(prefix: string, event: StorageEvent): void {
    for (const watch of this.#watches) if (watch.prefix === prefix) watch.onEvent(event);
  }
}

function prefixOf(group: string, resource: string): string {
  return group === "" ? `/${resource}` : `/${group}/${resource}`;
}
