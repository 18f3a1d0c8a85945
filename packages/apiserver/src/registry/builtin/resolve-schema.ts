/**
 * Turns component schemas of OpenAPI into the structural schemas that the rest of the server works with.
 * Equal references give the same object. A component is resolved at its first use, so a process pays only for
 * the kinds that it uses.
 */
import type { StructuralSchema } from "@setpoint/schema";
import { openApiSchemas } from "./api-data.ts";
import type { OpenApiSchema } from "./openapi-schema.ts";

const referencePrefix = "#/components/schemas/";
const resolved = new Map<string, StructuralSchema>();

/** Types that are opaque JSON in an object: their schema is empty, so everything below them is kept. */
const opaque: ReadonlySet<string> = new Set([
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1",
  "io.k8s.apimachinery.pkg.runtime.RawExtension",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
  "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
]);

/** Types with two JSON forms, a string and a number; what a number of it may be. */
const intOrString: ReadonlyMap<string, StructuralSchema> = new Map<string, StructuralSchema>([
  ["io.k8s.apimachinery.pkg.util.intstr.IntOrString", { "x-kubernetes-int-or-string": true, format: "int32" }],
  [
    "io.k8s.apimachinery.pkg.api.resource.Quantity",
    { "x-kubernetes-int-or-string": true, format: "quantity", nullable: true },
  ],
]);

/** The name of the component that a schema refers to. */
export function referenceOf(schema: OpenApiSchema): string | undefined {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return reference?.startsWith(referencePrefix) ? reference.slice(referencePrefix.length) : undefined;
}

/** The structural schema of a component; the same object for the same name. */
export function resolveSchema(name: string): StructuralSchema {
  let schema = resolved.get(name);
  if (schema === undefined) {
    schema = resolveComponent(name);
    resolved.set(name, schema);
  }
  return schema;
}

function resolveComponent(name: string): StructuralSchema {
  if (opaque.has(name)) return { "x-kubernetes-preserve-unknown-fields": true, nullable: true };
  const twoForms = intOrString.get(name);
  if (twoForms !== undefined) return twoForms;
  const source = openApiSchemas()[name];
  return source === undefined ? { "x-kubernetes-preserve-unknown-fields": true } : convert(source);
}

/** Keywords that are resolved one by one, or that say nothing about the form of an object. */
const resolvedElsewhere = [
  "$ref",
  "allOf",
  "oneOf",
  "properties",
  "items",
  "additionalProperties",
  "x-kubernetes-group-version-kind",
  "x-kubernetes-unions",
];

/**
 * Merge and list keywords that a field adds to what it refers to (`x-kubernetes-patch-strategy`, list types).
 */
function ownKeywords(source: OpenApiSchema): Record<string, unknown> {
  const own: Record<string, unknown> = { ...source };
  for (const keyword of resolvedElsewhere) delete own[keyword];
  // Zero values are an artefact of Go's encoding (`go-encoding.ts` adds them); only real defaults may act as
  // such.
  if (!isRealDefault(source.default)) delete own["default"];
  return own;
}

function isRealDefault(value: unknown): boolean {
  return value !== undefined && value !== "" && value !== 0 && value !== false && typeof value !== "object";
}

function convert(source: OpenApiSchema): StructuralSchema {
  const reference = referenceOf(source);
  const own = ownKeywords(source);
  if (reference !== undefined) return extend(reference, own);
  const { properties, items, additionalProperties } = source;
  // Go decodes null into any slice or map as absent.
  if (items !== undefined || (typeof additionalProperties === "object" && properties === undefined))
    own["nullable"] = true;
  if (properties !== undefined) lazily(own, "properties", () => convertAll(properties));
  if (items !== undefined) lazily(own, "items", () => convert(items));
  if (typeof additionalProperties === "object")
    lazily(own, "additionalProperties", () => convert(additionalProperties));
  return own;
}

function convertAll(properties: Readonly<Record<string, OpenApiSchema>>): Record<string, StructuralSchema> {
  const converted: Record<string, StructuralSchema> = {};
  for (const name in properties) {
    const source = properties[name];
    if (source !== undefined) lazily(converted, name, () => convert(source));
  }
  return converted;
}

/** The referred schema itself when the field adds nothing, so that equal types stay one object. */
function extend(reference: string, own: Record<string, unknown>): StructuralSchema {
  if (Object.keys(own).length === 0) return resolveSchema(reference);
  const target = resolveSchema(reference);
  const merged: Record<string, unknown> = {};
  for (const key of Object.keys(target) as (keyof StructuralSchema)[]) lazily(merged, key, () => target[key]);
  return Object.assign(merged, own);
}

/** Defines a property that is computed when it is first read and plain data from then on. */
function lazily(target: object, key: string, compute: () => unknown): void {
  Object.defineProperty(target, key, {
    configurable: true,
    enumerable: true,
    get: () => {
      const value = compute();
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
      return value;
    },
    set: (value: unknown) => {
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
    },
  });
}
