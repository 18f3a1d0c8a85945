/**
 * The protobuf form of OpenAPI v2, gnostic's `openapi.v2.Document`, by table. client-go reads only this form.
 * Values that may be anything are YAML text there; JSON is YAML.
 */
import { lookupTable } from "@setpoint/apimachinery";
import type { JsonSchema } from "../openapi-custom.ts";
import { WireWriter } from "./wire-writer.ts";

/** Messages that are written field by field. */
type PlainName =
  | "info"
  | "pathItem"
  | "operation"
  | "reference"
  | "bodyParameter"
  | "queryParameter"
  | "pathParameter"
  | "response"
  | "schema";
/** Messages that hold another one, one of several, or a map. */
type WrappingName =
  | "parametersItem"
  | "parameter"
  | "responses"
  | "responseValue"
  | "schemaItem"
  | "additionalProperties"
  | "typeItem"
  | "properties";

/** The messages that documents of ours have. */
export type MessageName = PlainName | WrappingName;

type FieldType = "string" | "bool" | "int64" | "double" | "any" | MessageName;
type Field = readonly [number: number, type: FieldType, rule?: "list"];

interface Message {
  readonly fields: Readonly<Record<string, Field>>;
  /** The number of the list of fields whose names start with `x-`. */
  readonly extensions?: number;
}

const primitive: Readonly<Record<string, Field>> = lookupTable({
  required: [1, "bool"],
  in: [2, "string"],
  description: [3, "string"],
  name: [4, "string"],
});

const messages: Readonly<Record<PlainName, Message>> = {
  info: { fields: { title: [1, "string"], version: [2, "string"] } },
  pathItem: {
    fields: {
      get: [2, "operation"],
      put: [3, "operation"],
      post: [4, "operation"],
      delete: [5, "operation"],
      patch: [8, "operation"],
      parameters: [9, "parametersItem", "list"],
    },
    extensions: 10,
  },
  operation: {
    fields: {
      tags: [1, "string", "list"],
      description: [3, "string"],
      operationId: [5, "string"],
      produces: [6, "string", "list"],
      consumes: [7, "string", "list"],
      parameters: [8, "parametersItem", "list"],
      responses: [9, "responses"],
      schemes: [10, "string", "list"],
    },
    extensions: 13,
  },
  reference: { fields: { $ref: [1, "string"] } },
  bodyParameter: {
    fields: {
      description: [1, "string"],
      name: [2, "string"],
      in: [3, "string"],
      required: [4, "bool"],
      schema: [5, "schema"],
    },
  },
  queryParameter: {
    fields: { ...primitive, type: [6, "string"], format: [7, "string"], uniqueItems: [20, "bool"] },
  },
  pathParameter: {
    fields: { ...primitive, type: [5, "string"], format: [6, "string"], uniqueItems: [19, "bool"] },
  },
  response: { fields: { description: [1, "string"], schema: [2, "schemaItem"] } },
  schema: {
    fields: {
      $ref: [1, "string"],
      format: [2, "string"],
      title: [3, "string"],
      description: [4, "string"],
      default: [5, "any"],
      multipleOf: [6, "double"],
      maximum: [7, "double"],
      exclusiveMaximum: [8, "bool"],
      minimum: [9, "double"],
      exclusiveMinimum: [10, "bool"],
      maxLength: [11, "int64"],
      minLength: [12, "int64"],
      pattern: [13, "string"],
      maxItems: [14, "int64"],
      minItems: [15, "int64"],
      uniqueItems: [16, "bool"],
      maxProperties: [17, "int64"],
      minProperties: [18, "int64"],
      required: [19, "string", "list"],
      enum: [20, "any", "list"],
      additionalProperties: [21, "additionalProperties"],
      type: [22, "typeItem"],
      items: [23, "schemaItem"],
      properties: [25, "properties"],
      example: [30, "any"],
    },
    extensions: 31,
  },
};

/** Entries of a map: messages of a name and a value. */
export function encodeNamed(number: number, type: MessageName, map: JsonSchema): Uint8Array {
  const out = new WireWriter();
  writeNamed(out, number, type, map);
  return out.bytes();
}

/** A message as a field of the number. */
export function encodeMessage(number: number, type: MessageName, value: unknown): Uint8Array {
  const out = new WireWriter();
  out.message(number, () => writeMessage(out, type, value));
  return out.bytes();
}

function writeNamed(out: WireWriter, number: number, type: MessageName, map: unknown): void {
  // The parent's table says that the value is a map.
  for (const [name, value] of Object.entries(map as JsonSchema))
    out.message(number, () => {
      out.text(1, name);
      out.message(2, () => writeMessage(out, type, value));
    });
}

function writeMessage(out: WireWriter, type: MessageName, value: unknown): void {
  if (Object.hasOwn(wrapped, type)) return wrapped[type as WrappingName](out, value);
  const { fields, extensions } = messages[type as PlainName];
  // The parent's table says that the value is an object.
  for (const [key, each] of Object.entries(value as JsonSchema)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field !== undefined) writeField(out, field, each);
    else if (extensions !== undefined && key.startsWith("x-")) writeExtension(out, extensions, key, each);
  }
}

function writeField(out: WireWriter, [number, type, rule]: Field, value: unknown): void {
  // The tables say which fields are lists.
  if (rule === "list") for (const each of value as readonly unknown[]) writeOne(out, number, type, each);
  else writeOne(out, number, type, value);
}

function writeOne(out: WireWriter, number: number, type: FieldType, value: unknown): void {
  switch (type) {
    case "string":
      return out.text(number, String(value));
    case "bool":
      return out.varint(number, value === true ? 1 : 0);
    case "int64":
      return out.varint(number, Number(value));
    case "double":
      return out.double(number, Number(value));
    case "any":
      return writeAny(out, number, value);
    default:
      return out.message(number, () => writeMessage(out, type, value));
  }
}

function writeAny(out: WireWriter, number: number, value: unknown): void {
  out.message(number, () => out.text(2, `${JSON.stringify(value)}\n`));
}

function writeExtension(out: WireWriter, number: number, name: string, value: unknown): void {
  out.message(number, () => {
    out.text(1, name);
    writeAny(out, 2, value);
  });
}

type Writer = (out: WireWriter, value: unknown) => void;

/** A message that holds one field. */
const holding =
  (number: number, type: MessageName): Writer =>
  (out, value) =>
    out.message(number, () => writeMessage(out, type, value));

const reference = holding(2, "reference");
const schema = holding(1, "schema");

// Each reads what OpenAPI v2 says about the value in its place.
const wrapped: Readonly<Record<WrappingName, Writer>> = {
  parametersItem: (out, value) => (isReference(value) ? reference(out, value) : holding(1, "parameter")(out, value)),
  parameter: writeParameter,
  responses: (out, value) => writeNamed(out, 1, "responseValue", value),
  responseValue: holding(1, "response"),
  schemaItem: schema,
  additionalProperties: (out, value) =>
    typeof value === "boolean" ? out.varint(2, value ? 1 : 0) : schema(out, value),
  typeItem: (out, value) => out.text(1, String(value)),
  properties: (out, value) => writeNamed(out, 1, "schema", value),
};

const isReference = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "$ref");

function writeParameter(out: WireWriter, value: unknown): void {
  const place = (value as { readonly in: string }).in;
  if (place === "body") return holding(1, "bodyParameter")(out, value);
  const own = place === "path" ? holding(4, "pathParameter") : holding(3, "queryParameter");
  out.message(2, () => own(out, value));
}
