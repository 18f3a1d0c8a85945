/**
 * Data about the built-in kinds, recorded from kube-apiserver 1.36.3 and kept in `data/`. A process reads and
 * parses each file once, at its first use: without a request for OpenAPI it never reads the OpenAPI paths.
 */
import { readFileSync } from "node:fs";
import type { OpenApiSchema } from "./openapi-schema.ts";

export interface DiscoverySubresource {
  readonly subresource: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly verbs: readonly string[];
}

export interface DiscoveryResource {
  readonly resource: string;
  readonly singularResource: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly scope: "Namespaced" | "Cluster";
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly DiscoverySubresource[];
}

/** One group of aggregated discovery; the core group has no name. */
export interface DiscoveryGroup {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveryResource[] }[];
}

/** Number of a field → its name, type and rule (`optional`, `repeated`, `map`). */
export type ProtobufMessage = Readonly<Record<string, readonly [name: string, type: string, rule: string]>>;

/**
 * How the Go struct of a message is encoded: `p` are pointers, `k` are kept when they are zero (no
 * `omitempty`), `z` are left out when zero even though they are structs (`omitzero`), `i` are embedded
 * structs whose fields stand in the parent, `n` are the JSON names of fields that protobuf calls something
 * else.
 */
export interface GoFields {
  readonly p?: readonly string[];
  readonly k?: readonly string[];
  readonly z?: readonly string[];
  readonly i?: readonly string[];
  readonly n?: Readonly<Record<string, string>>;
}

const parsed = new Map<string, unknown>();

// The shape of each file is fixed by this package, which ships it, so the type is asserted where it is read.
function load<T>(name: string): T {
  let value = parsed.get(name);
  if (value === undefined) {
    value = JSON.parse(readFileSync(new URL(`../../../data/${name}.json`, import.meta.url), "utf8"));
    parsed.set(name, value);
  }
  return value as T;
}

export function discoveryGroups(): readonly DiscoveryGroup[] {
  return load("discovery");
}

/** Component schemas of OpenAPI v3 by name (`io.k8s.api.core.v1.Pod`). */
export function openApiSchemas(): Readonly<Record<string, OpenApiSchema>> {
  return load("openapi-schemas");
}

export function protobufMessages(): Readonly<Record<string, ProtobufMessage>> {
  return load("protobuf-messages");
}

export function goFields(): Readonly<Record<string, GoFields>> {
  return load("go-fields");
}

/** What a new cluster contains, by the path of its list. Objects have neither apiVersion nor kind. */
export function startObjects(): Readonly<Record<string, readonly Record<string, unknown>[]>> {
  return load("objects-at-start");
}
