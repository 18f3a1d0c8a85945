/**
 * Decodes a JSON value by a schema: one pass copies it, drops unknown fields and meaningless nulls, and
 * checks JSON types. Every write of the API server runs this.
 */
import {
  SetpointError,
  isSetpointError,
  cloneJson,
  exactInteger,
  isJsonInteger,
  lookupTable,
  quantityProblem,
  setOwn,
} from "@setpoint/apimachinery";
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
  const isResource = hasImpliedMetadata(schema);
  const root: StructuralSchema = isResource ? { ...schema, type: schema.type ?? "object" } : schema;
  const walk = new DecodeWalk();
  const decoded = walk.value(root, value, "", isResource, options.wrongTypes !== "keep");
  return { value: decoded, unknownFields: options.unknown === "report" ? walk.unknownFields : [] };
}

class DecodeWalk {
  readonly unknownFields: string[] = [];

  /**
   * `isResource`: the value is a whole object of the API, whose metadata the schema leaves out. `throws`:
   * wrong types throw here, as they always do inside metadata. Whether to keep a null depends on nullable and
   * defaults, which the parent has checked.
   */
  value(schema: StructuralSchema, value: unknown, path: string, isResource: boolean, throws: boolean): unknown {
    if (value === null) return null;
    const wanted = wantedType(schema, value, throws);
    if (wanted !== undefined) {
      if (throws) throw new DecodeError({ path, wanted, found: jsonTypeOf(value), value });
      return cloneJson(value);
    }
    if (isJsonObject(value)) return this.#object(schema, value, path, isResource, throws);
    if (Array.isArray(value)) return this.#array(schema, value, path, throws);
    return typeof value === "bigint" ? integerOf(schema, value, throws) : value;
  }

  #array({ items }: StructuralSchema, array: readonly unknown[], path: string, throws: boolean): unknown {
    if (items === undefined) return cloneJson(array);
    return array.map((item, index) => {
      if (item === null && throws) return zeroOf(items);
      return this.value(items, item, indexPath(path, index), isEmbedded(items), throws);
    });
  }

  #object(
    schema: StructuralSchema,
    object: Record<string, unknown>,
    path: string,
    isResource: boolean,
    throws: boolean,
  ): unknown {
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(object)) {
      const item = object[key];
      const child = childSchema(schema, key, isResource);
      if (child === undefined) {
        if (keepsUnknown(schema, isResource)) setOwn(copy, key, cloneJson(item));
        else this.unknownFields.push(keyPath(path, key));
      } else if (item === null && throws && child === schema.additionalProperties) {
        setOwn(copy, key, zeroOf(child));
      } else if (item !== null || child.nullable === true || child.default !== undefined) {
        const isMetadata = isResource && key === "metadata";
        setOwn(copy, key, this.value(child, item, keyPath(path, key), isEmbedded(child), throws || isMetadata));
      }
    }
    return copy;
  }
}

/** Go's struct of a built-in kind holds a number as a float. */
function integerOf({ type }: StructuralSchema, value: bigint, throws: boolean): number | bigint {
  return type === "number" && throws ? Number(value) : exactInteger(value);
}

const zeros: Readonly<Record<string, unknown>> = lookupTable({ string: "", integer: 0, number: 0, boolean: false });

/**
 * What Go's decoder makes of a null in a list or map of this type: the zero of a scalar or struct. Lists,
 * times and types with a decoder of their own stay null.
 */
function zeroOf({ type, format, nullable, additionalProperties }: StructuralSchema): unknown {
  if (nullable === true || type === undefined || format === "date-time") return null;
  if (type === "object") return additionalProperties === undefined ? {} : null;
  return zeros[type] ?? null;
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

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function isTime(value: unknown): boolean {
  return typeof value === "string" && time.test(value);
}

/** The type that the schema expects when the value has another one. */
function wantedType(schema: StructuralSchema, value: unknown, throws: boolean): string | undefined {
  const { type, format } = schema;
  const found = jsonTypeOf(value);
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (format === "quantity") return quantityProblem(value) === undefined ? undefined : "a quantity";
    const fits = found === "string" || (found === "number" && (format !== "int32" || isIntegerOf(format, value)));
    return fits ? undefined : "integer or string";
  }
  if (type === "string" && format === "byte" && found === "string" && !isBase64(value)) return "base64 data";
  if (throws && type === "string" && format === "date-time" && found === "string" && !isTime(value)) return "a time";
  if (type === undefined || type === found) return undefined;
  if (type !== "integer") return type;
  if (isIntegerOf(format, value)) return undefined;
  return isJsonInteger(value) ? format : type;
}
