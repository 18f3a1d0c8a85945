import type { ResourceDefinition } from "./resource-definition.ts";

/** A name of a resource in one version: `apps/v1/deployments`, `/v1/pods` for the core group. */
function key(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}

/**
 * The table of everything that the server serves: built-in resources, and those of CustomResourceDefinitions, which come and
 * go as one set per CRD.
 */
export class Registry {
  readonly #builtin: readonly ResourceDefinition[];
  readonly #custom = new Map<string, readonly ResourceDefinition[]>();
  readonly #byKey = new Map<string, ResourceDefinition>();
  readonly #listeners = new Set<() => void>();
  #definitions: readonly ResourceDefinition[];

  constructor(builtin: readonly ResourceDefinition[]) {
    this.#builtin = builtin;
    this.#definitions = builtin;
    this.#index();
  }

  /** All definitions, built-in ones first. The array is replaced, never changed, so its identity tells a change. */
  get definitions(): readonly ResourceDefinition[] {
    return this.#definitions;
  }

  find(group: string, version: string, resource: string): ResourceDefinition | undefined {
    return this.#byKey.get(key(group, version, resource));
  }

  /** Whether anything at all is served under this group and version. */
  hasGroupVersion(group: string, version: string): boolean {
    return this.#definitions.some((each) => each.group === group && each.version === version);
  }

  /** Serves `definitions` for the CRD of this name, instead of what it had; an empty list removes it. */
  setCustom(crdName: string, definitions: readonly ResourceDefinition[]): void {
    if (definitions.length === 0) this.#custom.delete(crdName);
    else this.#custom.set(crdName, definitions);
    this.#definitions = [...this.#builtin, ...[...this.#custom.values()].flat()];
    this.#index();
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #index(): void {
    this.#byKey.clear();
    for (const each of this.#definitions) this.#byKey.set(key(each.group, each.version, each.resource), each);
  }
}
