/** Definitions by the names that requests and readers use. */
import type { ResourceDefinition } from "./resource-definition.ts";

export interface RegistryIndex {
  /** By group, version and resource: `apps/v1/deployments`, `/v1/pods` for the core group. */
  readonly byVersion: ReadonlyMap<string, ResourceDefinition>;
  /**
   * By group and resource. The storage version stands for the resource; one that is served only in others is
   * stored in the first of them.
   */
  readonly stored: ReadonlyMap<string, ResourceDefinition>;
  /** By group, version and kind: `apps/v1/Deployment`. */
  readonly byKind: ReadonlyMap<string, ResourceDefinition>;
}

/** The name is that of a resource or of a kind. */
export function versionKey(group: string, version: string, name: string): string {
  return `${group}/${version}/${name}`;
}

export function storedKey(group: string, resource: string): string {
  return `${group}/${resource}`;
}

export function indexDefinitions(definitions: readonly ResourceDefinition[]): RegistryIndex {
  const byVersion = new Map<string, ResourceDefinition>();
  const stored = new Map<string, ResourceDefinition>();
  const byKind = new Map<string, ResourceDefinition>();
  for (const each of definitions) {
    const { group, version, resource, kind, storageVersion } = each;
    byVersion.set(versionKey(group, version, resource), each);
    const key = storedKey(group, resource);
    if (version === storageVersion || !stored.has(key)) stored.set(key, each);
    const kindKey = versionKey(group, version, kind);
    if (!byKind.has(kindKey)) byKind.set(kindKey, each);
  }
  return { byVersion, stored, byKind };
}
