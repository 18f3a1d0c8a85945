import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "./object-reader.ts";
import type { Storage } from "../storage/storage.ts";
import { pathPrefixOf, storageKey } from "./object-key.ts";
import type { Registry } from "./registry.ts";
import type { ResourceViews } from "./registry-context.ts";

/** Reads objects in the storage version of their resource, at the newest visible state. */
export class StoredObjectReader implements ObjectReader {
  readonly #storage: Storage;
  readonly #registry: Registry;
  readonly #views: ResourceViews;

  constructor(storage: Storage, registry: Registry, views: ResourceViews) {
    this.#storage = storage;
    this.#registry = registry;
    this.#views = views;
  }

  get(group: string, resource: string, namespace: string, name: string): UnstructuredObject | undefined {
    const definition = this.#registry.findStored(group, resource);
    if (definition === undefined) return undefined;
    const stored = this.#storage.get(storageKey(definition, namespace, name));
    return stored === undefined ? undefined : this.#views.get(definition).show(stored);
  }

  list(group: string, resource: string, namespace = ""): readonly UnstructuredObject[] {
    const definition = this.#registry.findStored(group, resource);
    if (definition === undefined) return [];
    const pathPrefix = pathPrefixOf(definition, namespace);
    const view = this.#views.get(definition);
    return this.#storage.list(definition.storagePrefix, { pathPrefix }).objects.map((object) => view.show(object));
  }

  decided(group: string, resource: string): readonly UnstructuredObject[] {
    const definition = this.#registry.findStored(group, resource);
    if (definition === undefined) return [];
    const view = this.#views.get(definition);
    return this.#storage.decided(definition.storagePrefix).map((object) => view.show(object));
  }
}
