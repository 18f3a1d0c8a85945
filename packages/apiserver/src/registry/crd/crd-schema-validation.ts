/**
 * Checks of the schema of a CRD beyond its being structural: keywords that are not supported, list and map
 * types, validation rules. The messages are those of kube-apiserver, because users and tools match them.
 */
import type { FieldError } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { forbidden, invalidValue, notSupported, required } from "../field-errors.ts";
import { validateRules } from "./crd-rule-validation.ts";

/** The schema as a request may have it: any JSON where the structural form has types. */
export type SchemaNode = StructuralSchema & Readonly<Record<string, unknown>>;

const types: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];
const bannedKeywords = ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"] as const;
const metaFields: ReadonlySet<string> = new Set(["metadata", "kind", "apiVersion"]);

interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Why defaults may not stand here; undefined where they may. */
  readonly defaultsForbidden?: string;
  readonly insideMeta: boolean;
}

/** All errors of the schema at `path`. */
export function validateSchemaKeywords(schema: StructuralSchema, path: string): readonly FieldError[] {
  return nodeErrors(schema as SchemaNode, { path, isRoot: true, insideMeta: false });
}

function nodeErrors(node: SchemaNode, place: Place): FieldError[] {
  return [
    ...keywordErrors(node, place),
    ...childErrors(node, place),
    ...typeErrors(node, place.path),
    ...validateRules(node, place.path),
  ];
}

function keywordErrors(node: SchemaNode, { path, defaultsForbidden, insideMeta }: Place): FieldError[] {
  const errors: FieldError[] = [];
  const type: string | undefined = node.type;
  if (type !== undefined && type !== "" && !types.includes(type))
    errors.push(notSupported(`${path}.type`, type, types));
  if (node.default !== undefined && defaultsForbidden !== undefined)
    errors.push(forbidden(`${path}.default`, `must not be set ${defaultsForbidden}`));
  for (const keyword of bannedKeywords)
    if (node[keyword] !== undefined) errors.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
  if (type === "null")
    errors.push(forbidden(`${path}.type`, "type cannot be set to null, use nullable as an alternative"));
  if (Array.isArray(node.items))
    errors.push(forbidden(`${path}.items`, "items must be a schema object and not an array"));
  if (insideMeta && node["x-kubernetes-embedded-resource"] === true)
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, "must not be used inside of resource meta"));
  if (node.uniqueItems === true) {
    const why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
    errors.push(forbidden(`${path}.uniqueItems`, why));
  }
  return errors;
}

function childErrors(node: SchemaNode, place: Place): FieldError[] {
  const { path } = place;
  const inner = { ...place, isRoot: false };
  const errors: FieldError[] = [];
  const visit = (child: unknown, at: string, how: Partial<Place> = {}): void => {
    if (typeof child !== "object" || child === null || Array.isArray(child)) return;
    errors.push(...nodeErrors(child as SchemaNode, { ...inner, path: `${path}.${at}`, ...how }));
  };
  const { additionalProperties, properties } = node;
  if (additionalProperties !== undefined) {
    if (Object.keys(properties ?? {}).length > 0 && additionalProperties !== true)
      errors.push(
        forbidden(`${path}.additionalProperties`, "additionalProperties and properties are mutual exclusive"),
      );
    const why = "inside additionalProperties applying to object metadata";
    visit(additionalProperties, "additionalProperties", place.insideMeta ? { defaultsForbidden: why } : {});
  }
  for (const [name, child] of Object.entries(properties ?? {}))
    visit(child, `properties[${name}]`, metaPlace(node, place, name));
  visit(node.not, "not");
  for (const junctor of ["allOf", "oneOf", "anyOf"] as const)
    node[junctor]?.forEach((child, index) => visit(child, `${junctor}[${index}]`));
  visit(node.items, "items");
  return errors;
}

function metaPlace(node: SchemaNode, { isRoot }: Place, name: string): Partial<Place> {
  if (!metaFields.has(name) || (!isRoot && node["x-kubernetes-embedded-resource"] !== true)) return {};
  return { insideMeta: true, ...(isRoot ? { defaultsForbidden: `in top-level ${name}` } : {}) };
}

function typeErrors(node: SchemaNode, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (node["x-kubernetes-preserve-unknown-fields"] === false)
    errors.push(invalidValue(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  const mapType: string | undefined = node["x-kubernetes-map-type"];
  if (mapType !== undefined) {
    errors.push(...typeMustBe(node, path, "object", "x-kubernetes-map-type"));
    const known = ["atomic", "granular"];
    if (!known.includes(mapType)) errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, known));
  }
  return [...errors, ...listErrors(node, path)];
}

function typeMustBe(node: SchemaNode, path: string, type: string, keyword: string): FieldError[] {
  if (node.type === type) return [];
  const detail = `must be ${type} if ${keyword} is specified`;
  return [node.type === undefined ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, node.type, detail)];
}

function listErrors(node: SchemaNode, path: string): FieldError[] {
  const listType: string | undefined = node["x-kubernetes-list-type"];
  const keys = node["x-kubernetes-list-map-keys"] ?? [];
  const errors: FieldError[] = [];
  if (listType !== undefined && node.type !== "array")
    errors.push(...typeMustBe(node, path, "array", "x-kubernetes-list-type"));
  else if (listType === "set" && node.items !== undefined) errors.push(...setErrors(node.items, path));
  const known = ["atomic", "set", "map"];
  if (listType !== undefined && !known.includes(listType))
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, known));
  if (keys.length > 0 && listType !== "map") {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    const field = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(field, detail) : invalidValue(field, listType, detail));
  }
  if (listType === "map") errors.push(...mapErrors(node, keys, path));
  return [...errors, ...itemErrors(node, keys, path)];
}

function setErrors(items: StructuralSchema, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic")
    return [invalidValue(`${path}.items.x-kubernetes-list-type`, listType, detail)];
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic")
    return [invalidValue(`${path}.items.x-kubernetes-map-type`, null, detail)];
  return [];
}

function mapErrors({ items }: SchemaNode, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const keysField = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(keysField, "must not be empty if x-kubernetes-list-type is map"));
  if (items === undefined)
    return [...errors, required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map")];
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalidValue(`${path}.items.type`, items.type ?? "", detail)];
  }
  keys.forEach((key, index) => {
    const property = items.properties?.[key];
    if (property === undefined)
      errors.push(invalidValue(keysField, keys, "entries must all be names of item properties"));
    else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidValue(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (keys.indexOf(key) !== index) errors.push(invalidValue(keysField, keys, "must not contain duplicate entries"));
  });
  return errors;
}

/** The value or the keys identify an item of a set or map, so the schema must require them. */
function itemErrors({ items, ...node }: SchemaNode, keys: readonly string[], path: string): FieldError[] {
  const listType = node["x-kubernetes-list-type"];
  if (items === undefined || (listType !== "set" && listType !== "map")) return [];
  const errors: FieldError[] = [];
  if (items.nullable === true)
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`));
  if (listType === "set") return errors;
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    const why = "this property is in x-kubernetes-list-map-keys, so it";
    if (items.required?.includes(key) !== true && property.default === undefined)
      errors.push(required(`${field}.default`, `${why} must have a default or be a required property`));
    if (property.nullable === true) errors.push(forbidden(`${field}.nullable`, `${why} cannot be nullable`));
  }
  return errors;
}
