import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../admission/admission-plugin.ts";
import type { Storage } from "../storage/storage.ts";
import { pathPrefixOf, storageKey } from "./object-key.ts";
import type { Registry } from "./registry.ts";
import type { ResourceViews } from "./registry-context.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

/** Reads objects in the storage version of their resource, at the newest visible state. */
export class StoredObjectReader implements ObjectReader {
  readonly #storage: Storage;
  readonly #registry: Registry;
  readonly #views: ResourceViews;
  #indexed: readonly ResourceDefinition[] | undefined;
  #byResource = new Map<string, ResourceDefinition>();

  constructor(storage: Storage, registry: Registry, views: ResourceViews) {
    this.#storage = storage;
    this.#registry = registry;
    this.#views = views;
  }

  get(group: string, resource: string, namespace: string, name: string): UnstructuredObject | undefined {
    const definition = this.#find(group, resource);
    if (definition === undefined) return undefined;
    const stored = this.#storage.get(storageKey(definition, namespace, name));
    return stored === undefined ? undefined : this.#views.get(definition).show(stored);
  }

  list(group: string, resource: string, namespace = ""): readonly UnstructuredObject[] {
    const definition = this.#find(group, resource);
    if (definition === undefined) return [];
    const pathPrefix = pathPrefixOf(definition, namespace);
    const view = this.#views.get(definition);
    return this.#storage.list(definition.storagePrefix, { pathPrefix }).objects.map((object) => view.show(object));
  }

  #find(group: string, resource: string): ResourceDefinition | undefined {
    const { definitions } = this.#registry;
    if (definitions !== this.#indexed) this.#index(definitions);
    return this.#byResource.get(`${group}/${resource}`);
  }

  /** The storage version stands for the resource; a resource served only in others is read in the first of them. */
  #index(definitions: readonly ResourceDefinition[]): void {
    this.#indexed = definitions;
    this.#byResource = new Map();
    for (const each of definitions) {
      const key = `${each.group}/${each.resource}`;
      if (each.version === each.storageVersion || !this.#byResource.has(key)) this.#byResource.set(key, each);
    }
  }
}
