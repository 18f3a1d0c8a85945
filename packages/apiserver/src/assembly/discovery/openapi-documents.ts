/**
 * OpenAPI v3: an index of documents, one a group and version. A document is built at its first request. Its
 * hash is computed from its inputs, so the index is cheap even with hundreds of kinds.
 */
import { encodeJson, apiVersionOf } from "@setpoint/apimachinery";
import type { Registry } from "../../registry/registry.ts";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { contentHash } from "./etag.ts";
import { ComponentCollector } from "./openapi-components.ts";
import type { JsonSchema } from "./openapi-custom.ts";
import { OperationWriter } from "./openapi-operations.ts";

/**
 * Documents are large (core/v1 has a megabyte); the latest few are kept, since clients ask for the same ones.
 */
const documentsKeptMax = 8;

/** The resources of one document, and the hash of what it says about them. */
export interface DocumentEntry {
  readonly definitions: readonly ResourceDefinition[];
  readonly hash: string;
}

export class OpenApiDocuments {
  readonly #registry: Registry;
  readonly #serverVersion: string;
  readonly #digests = new WeakMap<ResourceDefinition, string>();
  readonly #made = new Map<string, JsonSchema>();
  #definitions: readonly ResourceDefinition[] | undefined;
  #entries: ReadonlyMap<string, DocumentEntry> = new Map();

  /** `serverVersion` is what documents say about themselves (`1.36`). */
  constructor(registry: Registry, serverVersion: string) {
    this.#registry = registry;
    this.#serverVersion = serverVersion;
  }

  /** `GET /openapi/v3`. */
  index(): { readonly paths: JsonSchema } {
    const entries = [...this.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const paths = entries.map(([key]) => [key, { serverRelativeURL: this.url(key) }]);
    return { paths: Object.fromEntries(paths) };
  }

  /** The hash of a document (`apis/apps/v1`), undefined when there is none. */
  hash(key: string): string | undefined {
    return this.entries().get(key)?.hash;
  }

  /** Where the present state of a document is. */
  url(key: string): string {
    return `/openapi/v3/${key}?hash=${this.hash(key) ?? ""}`;
  }

  document(key: string): JsonSchema | undefined {
    const entry = this.entries().get(key);
    if (entry === undefined) return undefined;
    const document = this.#made.get(entry.hash) ?? this.#make(entry.definitions);
    // Deleting first moves the document to the end, so that the one used longest ago is the first to go.
    this.#made.delete(entry.hash);
    this.#made.set(entry.hash, document);
    for (const oldest of this.#made.keys()) if (this.#made.size > documentsKeptMax) this.#made.delete(oldest);
    return document;
  }

  /** What there are documents about, by their key. */
  entries(): ReadonlyMap<string, DocumentEntry> {
    const definitions = this.#registry.definitions;
    if (definitions === this.#definitions) return this.#entries;
    const groups = Map.groupBy(definitions, documentKey);
    this.#entries = new Map([...groups].map(([key, served]) => [key, this.#entry(served)]));
    this.#definitions = definitions;
    return this.#entries;
  }

  #entry(definitions: readonly ResourceDefinition[]): DocumentEntry {
    const digests = definitions.map((each) => this.#digest(each));
    return { definitions, hash: contentHash([this.#serverVersion, ...digests].join("\n")) };
  }

  #digest(definition: ResourceDefinition): string {
    let digest = this.#digests.get(definition);
    if (digest === undefined) {
      const { group, version, resource, custom, selectableFields } = definition;
      const { kind, listKind, namespaced, verbs, subresources } = definition;
      const fields = custom ? [Object.keys(selectableFields), definition.schema] : [];
      digest = contentHash(
        encodeJson([group, version, resource, kind, listKind, namespaced, verbs, subresources, ...fields]),
      );
      this.#digests.set(definition, digest);
    }
    return digest;
  }

  #make(definitions: readonly ResourceDefinition[]): JsonSchema {
    const components = new ComponentCollector();
    for (const each of definitions) if (each.custom) components.addCustom(each);
    const paths = Object.assign({}, ...definitions.map((each) => new OperationWriter(each, components).paths()));
    const custom = definitions.every((each) => each.custom);
    return {
      openapi: "3.0.0",
      info: custom
        ? { title: "Kubernetes CRD Swagger", version: "v0.1.0" }
        : { title: "Kubernetes", version: this.#serverVersion },
      paths,
      components: { schemas: components.components() },
    };
  }
}

function documentKey({ group, version }: ResourceDefinition): string {
  return `${group === "" ? "api" : "apis"}/${apiVersionOf({ group, version })}`;
}
