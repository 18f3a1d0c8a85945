/**
 * The component schemas of one OpenAPI document: those that its operations name, and everything that these
 * refer to.
 */
import type { ResourceDefinition } from "../../registry/resource-definition.ts";
import { openApiSchemas } from "../../registry/builtin/api-data.ts";
import { describeObjectMeta, objectMetaName } from "./object-meta-descriptions.ts";
import { customSchemaName, customSchemas, type JsonSchema } from "./openapi-custom.ts";

interface Gvk {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const referencePrefix = "#/components/schemas/";
const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/** Names of the components that every document uses. */
export const metaComponents: { readonly status: string; readonly deleteOptions: string; readonly patch: string } = {
  status: `${meta}Status`,
  deleteOptions: `${meta}DeleteOptions`,
  patch: `${meta}Patch`,
};

let byGvk: ReadonlyMap<string, string> | undefined;

const gvkKey = ({ group, version, kind }: Gvk): string => `${group}/${version}/${kind}`;

function builtinNames(): ReadonlyMap<string, string> {
  if (byGvk !== undefined) return byGvk;
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(openApiSchemas()))
    for (const gvk of schema["x-kubernetes-group-version-kind"] ?? [])
      if (!names.has(gvkKey(gvk))) names.set(gvkKey(gvk), name);
  byGvk = names;
  return names;
}

/** Collects the components of one document while its operations are written. */
export class ComponentCollector {
  readonly #wanted = new Set<string>(Object.values(metaComponents));
  readonly #custom: Record<string, JsonSchema> = {};

  /** Makes the schemas of a CRD's version known. */
  addCustom(definition: ResourceDefinition): void {
    Object.assign(this.#custom, customSchemas(definition));
  }

  /** A reference to a component by its name. */
  reference(name: string): JsonSchema {
    this.#wanted.add(name);
    return { $ref: referencePrefix + name };
  }

  /**
   * A reference to the schema of a kind; kinds without one (options of streams) are strings, as upstream has
   * it.
   */
  referenceKind(definition: ResourceDefinition, gvk: Gvk): JsonSchema {
    const name = customSchemaName(definition, gvk.kind);
    const own = gvk.group === definition.group && gvk.version === definition.version;
    if (definition.custom && own && Object.hasOwn(this.#custom, name)) return this.reference(name);
    const builtin = builtinNames().get(gvkKey(gvk));
    return builtin === undefined ? { type: "string" } : this.reference(builtin);
  }

  /** All components that are needed, by name in order. */
  components(): Readonly<Record<string, JsonSchema>> {
    const found = new Map<string, JsonSchema>();
    const open = [...this.#wanted];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      const schema = found.has(name) ? undefined : this.#find(name);
      if (schema === undefined) continue;
      found.set(name, schema);
      collectReferences(schema, open);
    }
    return Object.fromEntries([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  #find(name: string): JsonSchema | undefined {
    // An OpenAPI schema is plain JSON by its definition.
    const schema = this.#custom[name] ?? (openApiSchemas()[name] as JsonSchema | undefined);
    return schema !== undefined && name === objectMetaName ? describeObjectMeta(schema) : schema;
  }
}

function collectReferences(node: unknown, into: string[]): void {
  if (Array.isArray(node)) for (const each of node) collectReferences(each, into);
  else if (typeof node === "object" && node !== null)
    for (const [key, value] of Object.entries(node)) {
      if (key === "$ref" && typeof value === "string") into.push(value.slice(referencePrefix.length));
      else collectReferences(value, into);
    }
}
