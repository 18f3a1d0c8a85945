import type { StorageKey } from "../storage/storage.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

/** Where an object of this resource is stored. */
export function storageKey(definition: ResourceDefinition, namespace: string, name: string): StorageKey {
  return { prefix: definition.storagePrefix, path: definition.namespaced ? `${namespace}/${name}` : name };
}

/** What the paths of a namespace start with; everything when there is no namespace. */
export function pathPrefixOf(definition: ResourceDefinition, namespace: string): string {
  return definition.namespaced && namespace !== "" ? `${namespace}/` : "";
}
