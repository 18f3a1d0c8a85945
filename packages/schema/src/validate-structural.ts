/**
 * Whether a CRD's schema is structural: every field has a type, and logic (anyOf and its like) adds no
 * structure.
 */
import { lookupTable } from "@setpoint/apimachinery";
import type { FieldError, FieldErrorType } from "@setpoint/apimachinery";
import { indexPath, joinPath } from "./field-path.ts";
import { goValue } from "./go-value.ts";
import { isEmbedded } from "./object-meta-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

type Level = "root" | "item" | "field";

/** `path` is the schema's path: `spec.versions[0].schema.openAPIV3Schema`. */
export function validateStructural(schema: StructuralSchema, path = ""): readonly FieldError[] {
  const walk = new StructuralWalk();
  walk.visit(schema, "root", path);
  return walk.errors;
}

const missingType: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

/** Keywords that may not stand inside anyOf and its like, with what the server says of each. */
const structureKeywords: Readonly<Record<string, string>> = lookupTable({
  type: "must be empty to be structural",
  additionalProperties: "must be undefined to be structural",
  default: "must be undefined to be structural",
  title: "must be empty to be structural",
  description: "must be empty to be structural",
  nullable: "must be false to be structural",
  "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
  "x-kubernetes-embedded-resource": "must be false to be structural",
  "x-kubernetes-int-or-string": "must be false to be structural",
  "x-kubernetes-list-map-keys": "must be empty to be structural",
  "x-kubernetes-list-type": "must be undefined to be structural",
  "x-kubernetes-map-type": "must be undefined to be structural",
});

class StructuralWalk {
  readonly errors: FieldError[] = [];

  visit(schema: StructuralSchema, level: Level, path: string): void {
    const { items, properties = {}, additionalProperties, type } = schema;
    const isObject = level === "root" || isEmbedded(schema);
    if (items !== undefined) this.visit(items, "item", joinPath(path, "items"));
    else if (type === "array") this.#required(joinPath(path, "items"), "must be specified");
    for (const [name, property] of Object.entries(properties)) {
      if (isObject && name === "metadata") this.#visitMetadata(property, propertyPath(path, name));
      else this.visit(property, "field", propertyPath(path, name));
    }
    if (additionalProperties !== undefined) this.#visitAdditional(schema, additionalProperties, level, path);
    this.#checkIntOrString(schema, path);
    this.#checkType(schema, level, path);
    this.#checkEmbedded(schema, path);
    if (isObject) this.#checkTypeMeta(properties, path);
    this.#checkLists(schema, path);
    this.#visitJunctors(schema, path);
  }

  #report(type: FieldErrorType, field: string, message: string): void {
    this.errors.push({ type, field, message });
  }

  #required(field: string, detail: string): void {
    this.#report("FieldValueRequired", field, `Required value: ${detail}`);
  }

  #forbidden(field: string, detail: string): void {
    this.#report("FieldValueForbidden", field, `Forbidden: ${detail}`);
  }

  #invalid(field: string, value: unknown, detail: string): void {
    this.#report("FieldValueInvalid", field, `Invalid value: ${goValue(value)}: ${detail}`);
  }

  #visitAdditional(schema: StructuralSchema, additional: StructuralSchema | boolean, level: Level, path: string): void {
    const field = joinPath(path, "additionalProperties");
    if (level === "root") this.#forbidden(field, "must not be used at the root");
    else if (isEmbedded(schema)) this.#forbidden(field, "must not be used if x-kubernetes-embedded-resource is set");
    if (schema.properties !== undefined && additional !== false) {
      this.#forbidden(field, "additionalProperties and properties are mutual exclusive");
    }
    if (typeof additional === "object") this.visit(additional, "field", field);
  }

  #visitMetadata(schema: StructuralSchema, path: string): void {
    if (schema.type !== "object") this.#invalid(joinPath(path, "type"), schema.type ?? "", "must be object");
    const { type: _type, properties = {}, description: _description, ...others } = schema;
    const restricted = Object.keys(properties).some((name) => name !== "name" && name !== "generateName");
    if (restricted || Object.keys(others).length > 0) {
      const detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
      this.#forbidden(path, detail);
    }
    for (const [name, property] of Object.entries(properties)) this.visit(property, "field", propertyPath(path, name));
  }

  #checkType(schema: StructuralSchema, level: Level, path: string): void {
    const { type } = schema;
    const field = joinPath(path, "type");
    if (isEmbedded(schema) && type !== "object") {
      const detail = "must be object if x-kubernetes-embedded-resource is true";
      if (type === undefined) this.#required(field, detail);
      else this.#invalid(field, type, detail);
    } else if (type === undefined && !isUntypedAllowed(schema)) this.#required(field, missingType[level]);
    if (level === "root" && type !== undefined && type !== "object") {
      this.#invalid(field, type, "must be object at the root");
    }
  }

  #checkEmbedded(schema: StructuralSchema, path: string): void {
    if (!isEmbedded(schema) || schema["x-kubernetes-preserve-unknown-fields"] === true) return;
    if (Object.keys(schema.properties ?? {}).length > 0) return;
    const detail =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    this.#required(joinPath(path, "properties"), detail);
  }

  #checkTypeMeta(properties: Readonly<Record<string, StructuralSchema>>, path: string): void {
    for (const name of ["apiVersion", "kind"]) {
      const type = properties[name]?.type ?? "string";
      if (type !== "string") this.#invalid(joinPath(propertyPath(path, name), "type"), type, "must be string");
    }
  }

  #checkIntOrString(schema: StructuralSchema, path: string): void {
    if (schema["x-kubernetes-int-or-string"] !== true) return;
    for (const keyword of ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] as const) {
      if (schema[keyword] !== true) continue;
      this.#invalid(joinPath(path, keyword), true, "must be false if x-kubernetes-int-or-string is true");
    }
  }

  #checkLists(schema: StructuralSchema, path: string): void {
    const listType = schema["x-kubernetes-list-type"];
    if (listType !== undefined && schema.type !== "array") {
      const field = joinPath(path, "type");
      const detail = "must be array if x-kubernetes-list-type is specified";
      if (schema.type === undefined) this.#required(field, detail);
      else this.#invalid(field, schema.type, detail);
    }
    if (listType !== "map") return;
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    if (keys.length === 0) {
      const detail = "must not be empty if x-kubernetes-list-type is map";
      this.#required(joinPath(path, "x-kubernetes-list-map-keys"), detail);
    }
    if (keys.some((key) => schema.items?.properties?.[key] === undefined)) {
      const field = joinPath(path, "x-kubernetes-list-map-keys");
      this.#invalid(field, keys, "entries must all be names of item properties");
    }
    for (const key of keys) this.#checkListMapKey(schema, key, path);
  }

  #checkListMapKey(schema: StructuralSchema, key: string, path: string): void {
    const { properties, required = [] } = schema.items ?? {};
    const property = properties?.[key];
    const itemsPath = joinPath(path, "items");
    if (property === undefined) return;
    if (property.default === undefined && !required.includes(key)) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      this.#required(joinPath(propertyPath(itemsPath, key), "default"), detail);
    }
    if (property.nullable === true) {
      const field = joinPath(propertyPath(itemsPath, key), "nullable");
      this.#forbidden(field, "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
    }
  }

  #visitJunctors(schema: StructuralSchema, path: string): void {
    const exempt = intOrStringForm(schema);
    for (const junctor of ["allOf", "anyOf", "oneOf"] as const) {
      for (const [index, branch] of (schema[junctor] ?? []).entries()) {
        const branchPath = indexPath(joinPath(path, junctor), index);
        if (branch.anyOf !== undefined && branch === exempt) continue;
        if (junctor === "anyOf" && exempt === schema) continue;
        this.#visitBranch(branch, branchPath);
      }
    }
    if (schema.not !== undefined) this.#visitBranch(schema.not, joinPath(path, "not"));
  }

  /**
   * A branch has no structure of its own. That its fields be declared outside is in the documentation, but
   * servers since 1.36 at the latest accept others, so that is not asked.
   */
  #visitBranch(branch: StructuralSchema, path: string): void {
    for (const [name, property] of Object.entries(branch.properties ?? {})) {
      const field = propertyPath(path, name);
      if (name === "metadata") this.#forbidden(field, "must not be specified in a nested context");
      this.#visitBranch(property, field);
    }
    if (branch.items !== undefined) this.#visitBranch(branch.items, joinPath(path, "items"));
    for (const junctor of ["allOf", "anyOf", "oneOf"] as const) {
      for (const [index, inner] of (branch[junctor] ?? []).entries()) {
        this.#visitBranch(inner, indexPath(joinPath(path, junctor), index));
      }
    }
    if (branch.not !== undefined) this.#visitBranch(branch.not, joinPath(path, "not"));
    for (const [keyword, detail] of Object.entries(structureKeywords)) {
      const value = branch[keyword as keyof StructuralSchema];
      if (value !== undefined && value !== false) this.#forbidden(joinPath(path, keyword), detail);
    }
  }
}

function isUntypedAllowed(schema: StructuralSchema): boolean {
  return schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
}

function propertyPath(path: string, name: string): string {
  return `${joinPath(path, "properties")}[${name}]`;
}

/**
 * The one place where `anyOf` may name types: `[{type: integer}, {type: string}]`, alone or first in `allOf`.
 */
function intOrStringForm(schema: StructuralSchema): StructuralSchema | undefined {
  if (schema["x-kubernetes-int-or-string"] !== true) return undefined;
  const isForm = ({ anyOf = [] }: StructuralSchema): boolean =>
    anyOf.length === 2 &&
    anyOf.every((branch) => Object.keys(branch).length === 1) &&
    anyOf[0]?.type === "integer" &&
    anyOf[1]?.type === "string";
  if (isForm(schema)) return schema;
  const first = schema.allOf?.[0];
  return first !== undefined && isForm(first) ? first : undefined;
}
