import { encodeJson } from "@setpoint/apimachinery";
import type { CrdSchema } from "./crd-schema.ts";
import { docComment } from "./doc-comment.ts";
import { fieldName, pascalCase, type NameTable } from "./identifiers.ts";

const anyFields = "{ readonly [field: string]: unknown }";
/** The fields of `KubeObject`, which every object has. */
const objectFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** Turns schemas into interfaces, parents before children, each named after the path to it. */
export class TypeWriter {
  readonly #names: NameTable;
  readonly #declarations: string[] = [];

  constructor(names: NameTable) {
    this.#names = names;
  }

  get declarations(): readonly string[] {
    return this.#declarations;
  }

  /** Declares the interface of whole objects, under a name that the caller has claimed. */
  declareObject(name: string, schema: CrdSchema, doc: readonly (string | undefined)[]): void {
    this.#declare(name, { ...schema, "x-kubernetes-embedded-resource": true }, doc);
  }

  #declare(name: string, schema: CrdSchema, doc: readonly (string | undefined)[]): void {
    const isObject = schema["x-kubernetes-embedded-resource"] === true;
    // The place is taken before the fields are written, so that a parent stands before its children.
    const place = this.#declarations.push("") - 1;
    const fields = Object.entries(schema.properties ?? {}).filter(([field]) => !isObject || !objectFields.has(field));
    const lines = fields.map(([field, each]) =>
      this.#field(name, field, each, schema.required?.includes(field) ?? false),
    );
    if (schema["x-kubernetes-preserve-unknown-fields"] === true) lines.push("  readonly [field: string]: unknown;\n");
    const body = lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
    const head = `export interface ${name}${isObject ? " extends KubeObject" : ""}`;
    this.#declarations[place] = `${docComment(doc, "")}${head} ${body}\n`;
  }

  #field(parent: string, field: string, schema: CrdSchema, required: boolean): string {
    const fallback = schema.default === undefined ? undefined : `Default: ${encodeJson(schema.default)}`;
    const type = this.#type(schema, `${parent}${pascalCase(field)}`);
    return `${docComment([schema.description, fallback], "  ")}  readonly ${fieldName(field)}${required ? "" : "?"}: ${type};\n`;
  }

  #type(schema: CrdSchema, name: string): string {
    const type = this.#typeOfValue(schema, name);
    const hasNull = type === "unknown" || schema.enum?.includes(null) === true;
    return schema.nullable === true && !hasNull ? `${type} | null` : type;
  }

  #typeOfValue(schema: CrdSchema, name: string): string {
    if (schema["x-kubernetes-int-or-string"] === true) return "number | string";
    if (schema.enum !== undefined && schema.enum.length > 0) return schema.enum.map(literalType).join(" | ");
    switch (schema.type) {
      case "string":
      case "boolean":
      case "number":
        return schema.type;
      case "integer":
        return "number";
      case "array":
        return this.#arrayType(schema.items, name);
      case "object":
        return this.#objectType(schema, name);
      default:
        return "unknown";
    }
  }

  #arrayType(items: CrdSchema | undefined, name: string): string {
    const item = items === undefined ? "unknown" : this.#type(items, `${name}Item`);
    return /^readonly | [|&] /.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`;
  }

  #objectType(schema: CrdSchema, wanted: string): string {
    const { properties, additionalProperties } = schema;
    const hasFields = Object.keys(properties ?? {}).some((field) => !objectFields.has(field));
    const preserves = schema["x-kubernetes-preserve-unknown-fields"] === true;
    if (schema["x-kubernetes-embedded-resource"] === true && !hasFields)
      return preserves ? `KubeObject & ${anyFields}` : "KubeObject";
    if (Object.keys(properties ?? {}).length > 0) {
      const name = this.#names.claim(wanted);
      this.#declare(name, schema, [schema.description]);
      return name;
    }
    if (typeof additionalProperties === "object") {
      return `{ readonly [key: string]: ${this.#type(additionalProperties, `${wanted}Value`)} }`;
    }
    // The server drops the fields of an object that declares none, unless it says otherwise.
    return preserves || additionalProperties === true ? anyFields : "{ readonly [field: string]: never }";
  }
}

function literalType(value: unknown): string {
  return typeof value === "bigint" ? `${value}n` : JSON.stringify(value);
}
