/**
 * Messages whose JSON is not an object of their fields: times, quantities, embedded JSON, unions of the CRD
 * schema.
 */
import { decodeJson } from "@setpoint/apimachinery";
import { timestampAt } from "@setpoint/host";
import { checkJsonBounds } from "../../request/body-bounds.ts";
import { malformed, readFields } from "./wire-reader.ts";

/** Decodes bytes as the message itself (its bytes fields stay bytes), or as another one when it is named. */
export type Decode = (bytes: Uint8Array, message?: string) => Record<string, unknown>;
type Special = (bytes: Uint8Array, decode: Decode, name: string) => unknown;

const text = new TextDecoder();
const nanosPerMicro = 1000;
const nanosPerSecond = 1_000_000_000;

function time(bytes: Uint8Array, decode: Decode): string | undefined {
  if (bytes.length === 0) return undefined;
  const { seconds = 0 } = decode(bytes) as { seconds?: number };
  return timestampAt(Number(seconds) * 1000);
}

function microTime(bytes: Uint8Array, decode: Decode): string | undefined {
  if (bytes.length === 0) return undefined;
  const { seconds = 0, nanos = 0 } = decode(bytes) as { seconds?: number; nanos?: number };
  const micros = String(Math.floor(nanos / nanosPerMicro)).padStart(6, "0");
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${micros}Z`;
}

function duration(bytes: Uint8Array, decode: Decode): string {
  const { duration: nanos = 0 } = decode(bytes) as { duration?: number };
  return `${Number(nanos) / nanosPerSecond}s`;
}

function intOrString(bytes: Uint8Array, decode: Decode): number | string {
  const { type = 0, intVal = 0, strVal = "" } = decode(bytes) as { type?: number; intVal?: number; strVal?: string };
  return type === 0 ? intVal : strVal;
}

/** JSON inside a message: RawExtension, FieldsV1, and the defaults, enums and examples of CRDs. */
function embeddedJson(bytes: Uint8Array): unknown {
  const raw = readFields(bytes).find(({ number }) => number === 1)?.value;
  if (raw?.kind !== "bytes" || raw.bytes.length === 0) return undefined;
  checkJsonBounds(raw.bytes);
  try {
    return decodeJson(text.decode(raw.bytes));
  } catch (cause) {
    throw malformed(`embedded text that is no JSON (${String(cause)})`);
  }
}

function items(bytes: Uint8Array): readonly string[] {
  return readFields(bytes).flatMap(({ value }) => (value.kind === "bytes" ? [text.decode(value.bytes)] : []));
}

/** A schema or something else: the message has one field for each choice. */
function schemaOr(rest: (fields: ReturnType<typeof readFields>, decode: Decode, schema: string) => unknown): Special {
  return (bytes, decode, name) => {
    const schema = `${name.slice(0, name.lastIndexOf("."))}.JSONSchemaProps`;
    return rest(readFields(bytes), decode, schema);
  };
}

const schemaOrArray = schemaOr((fields, decode, schema) => {
  const decoded = fields.map(({ number, value }) => ({
    number,
    object: decode(value.kind === "bytes" ? value.bytes : new Uint8Array(), schema),
  }));
  const list = decoded.filter(({ number }) => number === 2).map(({ object }) => object);
  return list.length > 0 ? list : decoded.find(({ number }) => number === 1)?.object;
});

const schemaOrBool = schemaOr((fields, decode, schema) => {
  const own = fields.find(({ number }) => number === 2)?.value;
  if (own?.kind === "bytes") return decode(own.bytes, schema);
  const allows = fields.find(({ number }) => number === 1)?.value;
  return allows?.kind === "varint" && allows.value !== 0n;
});

const schemaOrStrings = schemaOr((fields, decode, schema) => {
  const own = fields.find(({ number }) => number === 1)?.value;
  if (own?.kind === "bytes") return decode(own.bytes, schema);
  return fields.flatMap(({ number, value }) =>
    number === 2 && value.kind === "bytes" ? [text.decode(value.bytes)] : [],
  );
});

/** By the last part of the message's name; none of these names has a second meaning in the API. */
export const specialMessages: ReadonlyMap<string, Special> = new Map<string, Special>([
  ["Time", time],
  ["MicroTime", microTime],
  ["Duration", duration],
  ["Quantity", (bytes, decode) => (decode(bytes) as { string?: string }).string ?? "0"],
  ["IntOrString", intOrString],
  ["RawExtension", embeddedJson],
  ["FieldsV1", embeddedJson],
  ["JSON", embeddedJson],
  ["ExtraValue", items],
  ["Verbs", items],
  ["JSONSchemaPropsOrArray", schemaOrArray],
  ["JSONSchemaPropsOrBool", schemaOrBool],
  ["JSONSchemaPropsOrStringArray", schemaOrStrings],
]);
