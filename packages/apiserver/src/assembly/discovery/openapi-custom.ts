/** Schemas of custom resources as OpenAPI publishes them: implicit fields spelled out, kinds marked. */
import type { StructuralSchema } from "@setpoint/schema";
import type { ResourceDefinition } from "../../registry/resource-definition.ts";

/** A schema of OpenAPI as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const metaPrefix = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.";

const apiVersionField: JsonSchema = {
  description: "APIVersion defines the version of the API that this object is written in.",
  type: "string",
};
const kindField: JsonSchema = {
  description: "Kind is the name of the schema that this object follows.",
  type: "string",
};

const metadataField = (type: string, description: string): JsonSchema => ({
  description,
  allOf: [{ $ref: metaPrefix + type }],
});

/** `com.example.v1.Widget` for the kind Widget of example.com/v1. */
export function customSchemaName({ group, version }: ResourceDefinition, kind: string): string {
  return [...group.split(".").toReversed(), version, kind].join(".");
}

/** The components of one definition: its kind and its list. */
export function customSchemas(definition: ResourceDefinition): Readonly<Record<string, JsonSchema>> {
  const { group, version, kind, listKind } = definition;
  const name = customSchemaName(definition, kind);
  const fields = Object.keys(definition.selectableFields).map((fieldPath) => ({ fieldPath }));
  const marks = (marked: string): JsonSchema => ({
    "x-kubernetes-group-version-kind": [{ group, kind: marked, version }],
    ...(fields.length === 0 ? {} : { "x-kubernetes-selectable-fields": fields }),
  });
  return {
    [name]: { ...publishedRoot(definition.schema), ...marks(kind) },
    [customSchemaName(definition, listKind)]: { ...listSchema(definition, name), ...marks(listKind) },
  };
}

function publishedRoot(schema: StructuralSchema): JsonSchema {
  const properties = {
    ...publishedProperties(schema),
    apiVersion: apiVersionField,
    kind: kindField,
    metadata: metadataField("ObjectMeta", "Standard object's metadata: its name, labels and so on."),
  };
  return { ...publishedNode(schema), type: "object", properties };
}

function listSchema({ resource, kind }: ResourceDefinition, name: string): JsonSchema {
  return {
    description: `${kind}List is a list of ${kind}`,
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: apiVersionField,
      items: { description: `The ${resource}.`, type: "array", items: { $ref: `#/components/schemas/${name}` } },
      kind: kindField,
      metadata: metadataField("ListMeta", "Where in time the list stands, and how it goes on."),
    },
  };
}

function publishedProperties(schema: StructuralSchema): Record<string, JsonSchema> {
  const entries = Object.entries(schema.properties ?? {});
  return Object.fromEntries(entries.map(([name, property]) => [name, published(property)]));
}

/** One schema with its children, embedded resources and int-or-strings made explicit for generic readers. */
function published(schema: StructuralSchema): JsonSchema {
  const node = publishedNode(schema);
  if (schema.properties !== undefined) node["properties"] = publishedProperties(schema);
  if (schema["x-kubernetes-int-or-string"] === true && schema.anyOf === undefined && schema.allOf === undefined)
    node["anyOf"] = [{ type: "integer" }, { type: "string" }];
  if (schema["x-kubernetes-embedded-resource"] === true) embed(schema, node);
  return node;
}

function publishedNode(schema: StructuralSchema): Record<string, unknown> {
  const { items, additionalProperties } = schema;
  const node: Record<string, unknown> = { ...schema };
  delete node["properties"];
  if (items !== undefined) node["items"] = published(items);
  if (additionalProperties !== undefined)
    node["additionalProperties"] =
      typeof additionalProperties === "object" ? published(additionalProperties) : additionalProperties;
  return node;
}

function embed(schema: StructuralSchema, node: Record<string, unknown>): void {
  node["properties"] = {
    ...publishedProperties(schema),
    apiVersion: apiVersionField,
    kind: kindField,
    metadata: metadataField("ObjectMeta", "Standard object's metadata: its name, labels and so on."),
  };
  node["required"] = [...new Set(["kind", "apiVersion", ...(schema.required ?? [])])];
}
