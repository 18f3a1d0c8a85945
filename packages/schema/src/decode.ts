/**
 * Decodes a JSON value by a schema: one pass copies it, drops unknown fields and meaningless nulls, and
 * checks JSON types. Every write of the API server runs this, so each schema is compiled once into closures,
 * only as deep as data has reached. A second, slower pass (`decode-report.ts`) locates errors.
 */
import { SetpointError, isSetpointError, cloneJson, setOwn } from "@setpoint/apimachinery";
import { findProblems, type JsonType, type WrongType } from "./decode-report.ts";
import { isBase64 } from "./base64.ts";
import { isIntegerOf } from "./integer-range.ts";
import { isJsonObject } from "./json-object.ts";
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

/** Copies `value`; the input is not changed. Throws `DecodeError`. */
export function decode(schema: StructuralSchema, value: unknown, options: DecodeOptions): Decoded {
  const state: State = { throws: options.wrongTypes !== "keep", failed: false, foundUnknown: false };
  const decoded = rootDecoder(schema)(value, state);
  if (!state.failed && (!state.foundUnknown || options.unknown === "prune"))
    return { value: decoded, unknownFields: [] };
  const { unknownFields, wrongType } = findProblems(schema, value, state.throws);
  if (wrongType !== undefined) throw new DecodeError(wrongType);
  return { value: decoded, unknownFields: options.unknown === "report" ? unknownFields : [] };
}

interface State {
  /** Whether wrong types fail here; always so inside metadata. */
  throws: boolean;
  failed: boolean;
  foundUnknown: boolean;
}

type Decoder = (value: unknown, state: State) => unknown;

const rootDecoders = new WeakMap<StructuralSchema, Decoder>();
const decoders = new WeakMap<StructuralSchema, Decoder>();

function rootDecoder(schema: StructuralSchema): Decoder {
  let decoder = rootDecoders.get(schema);
  if (decoder === undefined) {
    decoder = hasImpliedMetadata(schema) ? objectDecoder(schema, true) : decoderOf(schema);
    rootDecoders.set(schema, decoder);
  }
  return decoder;
}

function decoderOf(schema: StructuralSchema): Decoder {
  let decoder = decoders.get(schema);
  if (decoder === undefined) {
    decoder = compile(schema);
    decoders.set(schema, decoder);
  }
  return decoder;
}

function compile(schema: StructuralSchema): Decoder {
  if (schema["x-kubernetes-int-or-string"] === true) {
    if (schema.format === undefined)
      return scalarDecoder(schema, (value) => typeof value === "string" || typeof value === "number");
    return scalarDecoder(schema, (value) => typeof value === "string" || isIntegerOf(schema.format, value));
  }
  switch (schema.type) {
    case "object":
      return objectDecoder(schema, isEmbedded(schema));
    case "array":
      return arrayDecoder(schema);
    case "string":
      return schema.format === "byte"
        ? scalarDecoder(schema, isBase64)
        : scalarDecoder(schema, (value) => typeof value === "string");
    case "boolean":
      return scalarDecoder(schema, (value) => typeof value === "boolean");
    case "integer":
      return scalarDecoder(schema, (value) => isIntegerOf(schema.format, value));
    case "number":
      return scalarDecoder(schema, (value) => typeof value === "number");
    default:
      // Without a type anything is allowed; named fields still have their schemas.
      if (schema.properties === undefined && !isEmbedded(schema)) return cloneJson;
      return looseDecoder(objectDecoder(schema, isEmbedded(schema)));
  }
}

function looseDecoder(object: Decoder): Decoder {
  return (value, state) => (isJsonObject(value) ? object(value, state) : cloneJson(value));
}

function scalarDecoder(schema: StructuralSchema, fits: (value: unknown) => boolean): Decoder {
  return (value, state) => (fits(value) ? value : mismatch(schema, value, state));
}

/** Whether to keep a null depends on nullable and defaults, which the parent has checked. */
function mismatch(_schema: StructuralSchema, value: unknown, state: State): unknown {
  if (value === null) return null;
  if (state.throws) state.failed = true;
  return cloneJson(value);
}

function arrayDecoder(schema: StructuralSchema): Decoder {
  const items = schema.items === undefined ? undefined : lazily(schema.items);
  return (value, state) => {
    if (!Array.isArray(value)) return mismatch(schema, value, state);
    if (items === undefined) return cloneJson(value);
    const copy: unknown[] = [];
    const { plainType } = items;
    for (const item of value) {
      copy.push(item === null || typeof item === plainType ? item : items.decode(item, state));
    }
    return copy;
  };
}

interface Child {
  readonly dropsNull: boolean;
  /**
   * Values of which `typeof` says this are taken as they are: most values are texts, and no decoder is called
   * for them.
   */
  readonly plainType: "string" | "boolean" | "number" | undefined;
  decode: Decoder;
}

function plainTypeOf({ type, format }: StructuralSchema): Child["plainType"] {
  if (type === "string" && format === "byte") return undefined;
  return type === "string" || type === "boolean" || type === "number" ? type : undefined;
}

/**
 * A child that compiles its schema when the first value arrives, since built-in schemas may contain
 * themselves.
 */
function lazily(schema: StructuralSchema): Child {
  const child: Child = {
    dropsNull: schema.nullable !== true && schema.default === undefined,
    plainType: plainTypeOf(schema),
    decode: (value, state) => {
      child.decode = decoderOf(schema);
      return child.decode(value, state);
    },
  };
  return child;
}

function objectDecoder(schema: StructuralSchema, isResource: boolean): Decoder {
  const children = new Map<string, Child | undefined>();
  const { additionalProperties } = schema;
  const additional = typeof additionalProperties === "object" ? lazily(additionalProperties) : undefined;
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true || additionalProperties === true;
  const childOf = (key: string): Child | undefined => {
    const own = propertySchema(schema, key, isResource);
    const child = own === undefined ? undefined : knownChild(own, isResource && key === "metadata");
    // Only known names are remembered; names from outside would fill the map.
    if (child !== undefined) children.set(key, child);
    return child;
  };
  return (value, state) => {
    if (!isJsonObject(value)) return mismatch(schema, value, state);
    const copy: Record<string, unknown> = {};
    for (const key in value) {
      const item = fieldOf(value, key);
      const child = children.get(key) ?? childOf(key) ?? additional;
      if (child !== undefined) {
        if (item === null) {
          if (!child.dropsNull) setOwn(copy, key, null);
        } else setOwn(copy, key, typeof item === child.plainType ? item : child.decode(item, state));
      } else if (keepsUnknown) setOwn(copy, key, cloneJson(item));
      else state.foundUnknown = true;
    }
    return copy;
  };
}

/**
 * The compiler takes a read within `for in` for one of the few shapes that it has seen, and has to begin
 * again with every other; here come objects of all shapes, and a read of its own stays compiled.
 */
function fieldOf(object: Record<string, unknown>, key: string): unknown {
  return object[key];
}

function knownChild(schema: StructuralSchema, isMetadata: boolean): Child {
  const child = lazily(schema);
  if (!isMetadata) return child;
  const decodeMetadata: Decoder = (value, state) => {
    const { throws } = state;
    state.throws = true;
    const copy = child.decode(value, state);
    state.throws = throws;
    return copy;
  };
  return { dropsNull: child.dropsNull, plainType: undefined, decode: decodeMetadata };
}
