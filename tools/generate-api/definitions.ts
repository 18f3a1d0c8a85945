/** The definitions of a server's OpenAPI and its discovery, as the generator reads them. */

/** One schema node of OpenAPI v3, of which only what the types need is named. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode;
  readonly items?: SchemaNode;
  readonly allOf?: readonly SchemaNode[];
  readonly "x-kubernetes-group-version-kind"?: readonly { group: string; version: string; kind: string }[];
}

export type Definitions = Readonly<Record<string, SchemaNode>>;

/** The resources of a group, cut down from aggregated discovery. */
export interface DiscoveredGroup {
  readonly group: string;
  readonly versions: readonly {
    readonly version: string;
    readonly resources: readonly { readonly resource: string; readonly kind: string; readonly scope: string }[];
  }[];
}

/** `io.k8s.api.core.v1.Pod` taken apart: the module that holds it (`core-v1`) and its name there. */
export interface DefinitionName {
  readonly full: string;
  readonly module: string;
  readonly name: string;
}

const refPrefix = "#/components/schemas/";

export function parseDefinitionName(full: string): DefinitionName {
  const parts = full.split(".");
  const [group, version, name] = parts.slice(-3);
  if (group === undefined || version === undefined || name === undefined) {
    throw new Error(`Cannot place definition "${full}": it has too few parts`);
  }
  return { full, module: `${group}-${version}`, name };
}

/**
 * The definition that a node refers to, directly or as the only member of an `allOf` (the server's way to add
 * a default).
 */
export function refOf(node: SchemaNode): string | undefined {
  const ref = node.$ref ?? node.allOf?.[0]?.$ref;
  return ref?.startsWith(refPrefix) === true ? ref.slice(refPrefix.length) : ref;
}
