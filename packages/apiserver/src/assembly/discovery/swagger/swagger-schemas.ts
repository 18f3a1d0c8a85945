/**
 * Schemas as OpenAPI v2 can write them. It has no `oneOf` and no `nullable`, and a reference stands beside
 * its description. Old clients fail on fields of unknown type with properties, so these lose their
 * properties.
 */
import type { ResourceDefinition } from "../../../registry/resource-definition.ts";
import { openApiSchemas } from "../../../registry/builtin/api-data.ts";
import { describeObjectMeta, objectMetaName } from "../object-meta-descriptions.ts";
import { customSchemaName, customSchemas, type JsonSchema } from "../openapi-custom.ts";

const newPrefix = "#/components/schemas/";
const oldPrefix = "#/definitions/";

/** The names of the built-in definitions. */
export function builtinDefinitionNames(): readonly string[] {
  return Object.keys(openApiSchemas());
}

/** A built-in definition. Its defaults are left out, as upstream does. */
export function builtinDefinition(name: string): JsonSchema {
  // An OpenAPI schema is plain JSON by its definition.
  const schema = openApiSchemas()[name] as JsonSchema;
  return convertBuiltin(name === objectMetaName ? describeObjectMeta(schema) : schema);
}

/** The definitions of the kind and the list of a custom resource. */
export function customDefinitions(definition: ResourceDefinition): Readonly<Record<string, JsonSchema>> {
  const published = customSchemas(definition);
  const kind = customSchemaName(definition, definition.kind);
  const entries = Object.entries(published).map(([name, schema]): [string, JsonSchema] => [
    name,
    name === kind && definition.schema["x-kubernetes-preserve-unknown-fields"] === true
      ? openRoot(schema)
      : convertCustom(schema),
  ]);
  return Object.fromEntries(entries);
}

/** A root that takes any field is published as an object of which nothing is known. */
function openRoot(schema: JsonSchema): JsonSchema {
  const marks = Object.entries(schema).filter(([key]) => key.startsWith("x-kubernetes-group-version-kind"));
  return { type: "object", ...Object.fromEntries(marks) };
}

/** A reference as OpenAPI v2 has it. */
export function convertReference(reference: string): string {
  return reference.startsWith(newPrefix) ? oldPrefix + reference.slice(newPrefix.length) : reference;
}

function convertBuiltin(schema: JsonSchema): JsonSchema {
  const { default: _, oneOf, ...rest } = convertReferences(schema);
  if (oneOf !== undefined) rest["type"] = "string";
  return convertChildren(rest, convertBuiltin);
}

function convertCustom(schema: JsonSchema): JsonSchema {
  const node = convertReferences(schema);
  for (const junctor of ["allOf", "oneOf", "anyOf", "not"]) delete node[junctor];
  dropNullableRequired(node);
  const open = node["x-kubernetes-preserve-unknown-fields"] === true;
  if (node["nullable"] === true || open) {
    delete node["items"];
    delete node["properties"];
  }
  if (node["nullable"] === true || (open && node["type"] === "object")) delete node["type"];
  if (node["items"] === undefined && node["type"] === "array") delete node["type"];
  delete node["nullable"];
  return convertChildren(node, convertCustom);
}

/** Old clients take `null` for a missing field, so a field that may be null cannot be required. */
function dropNullableRequired(node: Record<string, unknown>): void {
  const { required, properties, additionalProperties } = node;
  if (!Array.isArray(required)) return;
  const left = required.filter((name) => !isNullable(childOf(properties, name)));
  if (left.length === 0 || isNullable(additionalProperties)) delete node["required"];
  else node["required"] = left;
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function childOf(properties: unknown, name: unknown): unknown {
  return isObject(properties) && typeof name === "string" && Object.hasOwn(properties, name)
    ? properties[name]
    : undefined;
}

const isNullable = (schema: unknown): boolean => isObject(schema) && schema["nullable"] === true;

/** `allOf` of one reference becomes the reference itself. */
function convertReferences(schema: JsonSchema): Record<string, unknown> {
  const node: Record<string, unknown> = { ...schema };
  const [only, ...others] = Array.isArray(node["allOf"]) ? node["allOf"] : [];
  if (others.length === 0 && isObject(only) && typeof only["$ref"] === "string") {
    delete node["allOf"];
    node["$ref"] = only["$ref"];
  }
  if (typeof node["$ref"] === "string") node["$ref"] = convertReference(node["$ref"]);
  return node;
}

function convertChildren(node: Record<string, unknown>, convert: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, additionalProperties } = node;
  if (isObject(properties)) node["properties"] = mapValues(properties, convert);
  if (isObject(items)) node["items"] = convert(items);
  if (isObject(additionalProperties)) node["additionalProperties"] = convert(additionalProperties);
  return node;
}

function mapValues(properties: JsonSchema, convert: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const entries = Object.entries(properties);
  // A property is a schema by the definition of OpenAPI.
  return Object.fromEntries(entries.map(([name, property]) => [name, convert(property as JsonSchema)]));
}
