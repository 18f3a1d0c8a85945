/** What extension servers serve, for discovery and the index of OpenAPI. It changes as they come and go. */
import type { ResourceDefinition } from "../registry/resource-definition.ts";

/** What discovery reports about a resource. */
export type DiscoveredResource = Pick<
  ResourceDefinition,
  | "group"
  | "version"
  | "resource"
  | "singular"
  | "kind"
  | "namespaced"
  | "verbs"
  | "shortNames"
  | "categories"
  | "subresources"
  | "custom"
  | "storageVersion"
>;

/** What one extension server serves. */
export interface ExtensionContents {
  readonly resources: readonly DiscoveredResource[];
  /** Its document in the index of OpenAPI v3, and where it is. */
  readonly document?: { readonly key: string; readonly url: string };
}

export class ExtensionCatalog {
  #byService: ReadonlyMap<string, ExtensionContents> = new Map();
  #resources: readonly DiscoveredResource[] = [];

  /** The same list until something changes. */
  get resources(): readonly DiscoveredResource[] {
    return this.#resources;
  }

  /** Entries of the index of OpenAPI v3. */
  get documents(): readonly { readonly key: string; readonly url: string }[] {
    return [...this.#byService.values()].map(({ document }) => document).filter((each) => each !== undefined);
  }

  /** Replaces everything, by the names of APIServices. */
  replace(byService: ReadonlyMap<string, ExtensionContents>): void {
    const resources = [...byService.values()].flatMap((each) => each.resources);
    const isSame = JSON.stringify(resources) === JSON.stringify(this.#resources);
    this.#byService = byService;
    if (!isSame) this.#resources = resources;
  }
}
