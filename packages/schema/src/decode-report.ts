/**
 * Finds where a value does not match a schema: the slow path of `decode`, for invalid values only.
 */
import { isBase64 } from "./base64.ts";
import { indexPath, keyPath } from "./field-path.ts";
import { isIntegerOf } from "./integer-range.ts";
import { isJsonObject } from "./json-object.ts";
import { hasImpliedMetadata, isEmbedded, propertySchema } from "./object-meta-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** The types of JSON values; unlike `typeof` it distinguishes arrays and null from objects. */
export type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

export interface WrongType {
  readonly path: string;
  readonly wanted: string;
  readonly found: JsonType;
  readonly value: unknown;
}

export interface Problems {
  readonly unknownFields: string[];
  wrongType?: WrongType;
}

export function findProblems(schema: StructuralSchema, value: unknown, throwsOnTypes: boolean): Problems {
  const problems: Problems = { unknownFields: [] };
  new ProblemWalk(problems).visit(schema, value, "", hasImpliedMetadata(schema), throwsOnTypes);
  return problems;
}

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "boolean" || type === "object" ? type : "number";
}

class ProblemWalk {
  readonly #problems: Problems;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  visit(schema: StructuralSchema, value: unknown, path: string, isResource: boolean, checksTypes: boolean): void {
    if (value === null) return;
    const wanted = wantedType(schema, value, path === "" && isResource);
    if (wanted !== undefined) {
      if (checksTypes) this.#problems.wrongType ??= { path, wanted, found: jsonTypeOf(value), value };
      return;
    }
    if (isJsonObject(value)) this.#visitObject(schema, value, path, isResource, checksTypes);
    else if (Array.isArray(value) && schema.items !== undefined) {
      for (const [index, item] of value.entries()) {
        this.visit(schema.items, item, indexPath(path, index), isEmbedded(schema.items), checksTypes);
      }
    }
  }

  #visitObject(
    schema: StructuralSchema,
    value: Record<string, unknown>,
    path: string,
    isResource: boolean,
    checksTypes: boolean,
  ): void {
    const { additionalProperties, properties } = schema;
    const additional = typeof additionalProperties === "object" ? additionalProperties : undefined;
    const opaque = schema.type === undefined && properties === undefined && !isResource;
    const keeps = opaque || schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
    for (const [key, item] of Object.entries(value)) {
      const child = propertySchema(schema, key, isResource) ?? additional;
      const childPath = keyPath(path, key);
      const isMetadata = isResource && key === "metadata";
      if (child !== undefined) this.visit(child, item, childPath, isEmbedded(child), checksTypes || isMetadata);
      else if (!keeps) this.#problems.unknownFields.push(childPath);
    }
  }
}

/** The type that the schema expects when the value has another one. */
function wantedType(schema: StructuralSchema, value: unknown, isRoot: boolean): string | undefined {
  const found = jsonTypeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true) {
    const fits =
      found === "string" || (found === "number" && (schema.format === undefined || isIntegerOf(schema.format, value)));
    return fits ? undefined : "integer or string";
  }
  const { type = isRoot ? "object" : undefined } = schema;
  if (type === "string" && schema.format === "byte" && found === "string" && !isBase64(value)) return "base64 data";
  if (type === undefined || type === found) return undefined;
  if (type !== "integer") return type;
  if (isIntegerOf(schema.format, value)) return undefined;
  return Number.isInteger(value) ? schema.format : type;
}
