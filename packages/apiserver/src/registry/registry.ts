import { indexDefinitions, type RegistryIndex, storedKey, versionKey } from "./registry-index.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

/**
 * The table of everything that the server serves: built-in resources, and those of CustomResourceDefinitions,
 * which come and go as one set per CRD.
 */
export class Registry {
  readonly builtin: readonly ResourceDefinition[];
  readonly #custom = new Map<string, readonly ResourceDefinition[]>();
  readonly #listeners = new Set<() => void>();
  readonly #builtinIndex: RegistryIndex;
  #customIndex: RegistryIndex;
  #definitions: readonly ResourceDefinition[];

  constructor(builtin: readonly ResourceDefinition[]) {
    this.builtin = builtin;
    this.#definitions = builtin;
    this.#builtinIndex = indexDefinitions(builtin);
    this.#customIndex = indexDefinitions([]);
  }

  /**
   * All definitions, built-in ones first. The array is replaced, never changed, so its identity tells a
   * change.
   */
  get definitions(): readonly ResourceDefinition[] {
    return this.#definitions;
  }

  find(group: string, version: string, resource: string): ResourceDefinition | undefined {
    const key = versionKey(group, version, resource);
    // No CRD takes the place of a built-in resource, whatever it names itself.
    return this.#builtinIndex.byVersion.get(key) ?? this.#customIndex.byVersion.get(key);
  }

  findKind(group: string, version: string, kind: string): ResourceDefinition | undefined {
    const key = versionKey(group, version, kind);
    return this.#builtinIndex.byKind.get(key) ?? this.#customIndex.byKind.get(key);
  }

  /**
   * The definition that stands for the resource, whatever version is asked for: that of its storage version.
   */
  findStored(group: string, resource: string): ResourceDefinition | undefined {
    const key = storedKey(group, resource);
    return this.#builtinIndex.stored.get(key) ?? this.#customIndex.stored.get(key);
  }

  /** Whether anything at all is served under this group and version. */
  hasGroupVersion(group: string, version: string): boolean {
    return this.#definitions.some((each) => each.group === group && each.version === version);
  }

  /** Serves `definitions` for the CRD of this name, instead of what it had; an empty list removes it. */
  setCustom(crdName: string, definitions: readonly ResourceDefinition[]): void {
    if (definitions.length === 0) this.#custom.delete(crdName);
    else this.#custom.set(crdName, definitions);
    const custom = [...this.#custom.values()].flat();
    this.#customIndex = indexDefinitions(custom);
    this.#definitions = [...this.builtin, ...custom];
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
