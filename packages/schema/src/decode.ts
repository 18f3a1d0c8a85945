/**
 * Decodes a JSON value by a schema: one pass copies it, drops unknown fields and meaningless nulls, and checks JSON
 * types. Every write of the API server runs this.
 */
import { SetpointError, isSetpointError, cloneJson, setOwn } from "@setpoint/apimachinery";
import { isBase64 } from "./base64.ts";
import { indexPath, keyPath } from "./field-path.ts";
import { isIntegerOf } from "./integer-range.ts";
import { isJsonObject } from "./json-object.ts";
import { type JsonType, jsonTypeOf } from "./json-type.ts";
import { hasImpliedMetadata, isEmbedded, propertySchema } from "./object-meta-schema.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** How `decode` handles fields and types that the schema does not allow. */
export interface DecodeOptions {
  /** `report` names the fields that were dropped; both drop them. */
  readonly unknown: "prune" | "report";
  /**
   * What a value of the wrong JSON type does. Built-in kinds refuse it at once (`throw`, the default: a 400);
   * custom resources keep it, and validation answers 422. Metadata is always refused.
   */
  readonly wrongTypes?: "throw" | "keep";
}

/** The decoded copy; it shares no objects with the input. */
export interface Decoded {
  readonly value: unknown;
  /** Paths like `spec.template.foo`, in the order of the input. */
  readonly unknownFields: string[];
}

interface WrongType {
  readonly path: string;
  readonly wanted: string;
  readonly found: JsonType;
  readonly value: unknown;
}

/** A value of a JSON type that its field cannot have. */
export class DecodeError extends SetpointError {
  readonly path: string;
  readonly wanted: string;
  readonly found: JsonType;
  readonly value: unknown;

  constructor({ path, wanted, found, value }: WrongType) {
    // The type of a number that is too large does not explain the error.
    const text = found === "number" ? `number ${String(value)}` : found;
    super("ERR_DECODE", `${path === "" ? "the object" : path}: found ${text}, expected ${wanted}`);
    this.path = path;
    this.wanted = wanted;
    this.found = found;
    this.value = value;
  }
}

/** Whether a value is a DecodeError, by its code `ERR_DECODE`. */
export function isDecodeError(error: unknown): error is DecodeError {
  return isSetpointError(error, "ERR_DECODE");
}

/** Copies `value`; the input is not changed. Throws `DecodeError` for the first value of a wrong type. */
export function decode(schema: StructuralSchema, value: unknown, options: DecodeOptions): Decoded {
  const unknownFields: string[] = [];
  const isResource = hasImpliedMetadata(schema);
  const rootSchema: StructuralSchema = isResource ? { ...schema, type: schema.type ?? "object" } : schema;
  const place = { path: "", isResource, throws: options.wrongTypes !== "keep" };
  const decoded = decodeValue(rootSchema, value, place, unknownFields);
  return { value: decoded, unknownFields: options.unknown === "report" ? unknownFields : [] };
}

interface Place {
  readonly path: string;
  /** Whether the value is a whole object of the API, whose metadata the schema leaves out. */
  readonly isResource: boolean;
  /** Whether wrong types throw here; always so inside metadata. */
  readonly throws: boolean;
}

/** Whether to keep a null depends on nullable and defaults, which the parent has checked. */
function decodeValue(schema: StructuralSchema, value: unknown, place: Place, unknownFields: string[]): unknown {
  if (value === null) return null;
  const wanted = wantedType(schema, value);
  if (wanted !== undefined) {
    if (place.throws) throw new DecodeError({ path: place.path, wanted, found: jsonTypeOf(value), value });
    return cloneJson(value);
  }
  if (isJsonObject(value)) return decodeObject(schema, value, place, unknownFields);
  if (!Array.isArray(value)) return value;
  const { items } = schema;
  if (items === undefined) return cloneJson(value);
  return value.map((item: unknown, index) => {
    const path = indexPath(place.path, index);
    return decodeValue(items, item, { ...place, path, isResource: isEmbedded(items) }, unknownFields);
  });
}

function decodeObject(
  schema: StructuralSchema,
  object: Record<string, unknown>,
  { path, isResource, throws }: Place,
  unknownFields: string[],
): unknown {
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(object)) {
    const child = childSchema(schema, key, isResource);
    if (child === undefined) {
      if (keepsUnknown(schema, isResource)) setOwn(copy, key, cloneJson(item));
      else unknownFields.push(keyPath(path, key));
    } else if (item !== null || child.nullable === true || child.default !== undefined) {
      const isMetadata = isResource && key === "metadata";
      const place = { path: keyPath(path, key), isResource: isEmbedded(child), throws: throws || isMetadata };
      setOwn(copy, key, decodeValue(child, item, place, unknownFields));
    }
  }
  return copy;
}

function childSchema(schema: StructuralSchema, key: string, isResource: boolean): StructuralSchema | undefined {
  const own = propertySchema(schema, key, isResource);
  if (own !== undefined) return own;
  const { additionalProperties } = schema;
  return typeof additionalProperties === "object" ? additionalProperties : undefined;
}

/** Without a type and named fields anything is allowed. */
function keepsUnknown(schema: StructuralSchema, isResource: boolean): boolean {
  const { type, properties, additionalProperties } = schema;
  if (schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true) return true;
  return type === undefined && properties === undefined && !isResource;
}

/** The type that the schema expects when the value has another one. */
function wantedType(schema: StructuralSchema, value: unknown): string | undefined {
  const { type, format } = schema;
  const found = jsonTypeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true) {
    const fits = found === "string" || (found === "number" && (format === undefined || isIntegerOf(format, value)));
    return fits ? undefined : "integer or string";
  }
  if (type === "string" && format === "byte" && found === "string" && !isBase64(value)) return "base64 data";
  if (type === undefined || type === found) return undefined;
  if (type !== "integer") return type;
  if (isIntegerOf(format, value)) return undefined;
  return Number.isInteger(value) ? format : type;
}
