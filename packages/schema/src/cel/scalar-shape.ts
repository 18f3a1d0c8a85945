/** Scalars of JSON as values; formats of strings have types of their own. */
import { isJsonInteger, lookupTable } from "@setpoint/apimachinery";
import { parseDate, parseDateTime, parseSchemaDuration } from "./time.ts";
import { boolType, intType, stringType, type CelType } from "./type.ts";
import { CelDuration, CelFault, CelTimestamp, type Value } from "./value.ts";

export interface Scalar {
  readonly type: CelType;
  readonly read: (json: unknown) => Value;
}

function goTypeName(json: unknown): string {
  if (isNumber(json)) return isJsonInteger(json) ? "int64" : "float64";
  if (Array.isArray(json)) return "[]interface {}";
  if (typeof json === "boolean") return "bool";
  return typeof json === "object" ? "map[string]interface {}" : typeof json;
}

function isNumber(json: unknown): json is number | bigint {
  return typeof json === "number" || typeof json === "bigint";
}

function wrong(wanted: string, json: unknown): CelFault {
  return new CelFault(`invalid data, expected ${wanted}, got ${goTypeName(json)}`);
}

const scalars: Readonly<Record<"boolean" | "integer" | "number", Scalar>> = {
  boolean: { type: boolType, read: (json) => (typeof json === "boolean" ? json : wrong("bool", json)) },
  integer: {
    type: intType,
    read: (json) => (isJsonInteger(json) ? BigInt(json) : wrong("int", json)),
  },
  number: { type: { kind: "double" }, read: (json) => (isNumber(json) ? Number(json) : wrong("float", json)) },
};

export function scalarOf(type: "boolean" | "integer" | "number"): Scalar {
  return scalars[type];
}

const text: Scalar = { type: stringType, read: (json) => (typeof json === "string" ? json : wrong("string", json)) };

const formats: Readonly<Record<string, Scalar>> = lookupTable({
  byte: {
    type: { kind: "bytes" },
    read: readText((json) => parseBase64(json) ?? invalid("byte formatted string", json)),
  },
  date: {
    type: { kind: "timestamp" },
    read: readText((json) => timestamp(parseDate(json)) ?? invalid("date formatted string", json)),
  },
  "date-time": {
    type: { kind: "timestamp" },
    read: readText((json) => timestamp(parseDateTime(json)) ?? invalid("date-time formatted string", json)),
  },
  duration: {
    type: { kind: "duration" },
    read: readText((json) => {
      const nanos = parseSchemaDuration(json);
      return nanos === undefined ? invalid("duration", json) : new CelDuration(nanos);
    }),
  },
});

export function textShape(format: string | undefined): Scalar {
  return format !== undefined && Object.hasOwn(formats, format) ? (formats[format] ?? text) : text;
}

function readText(read: (json: string) => Value): (json: unknown) => Value {
  return (json) => (typeof json === "string" ? read(json) : wrong("string", json));
}

function invalid(what: string, json: string): CelFault {
  return new CelFault(`Invalid ${what} ${json}`);
}

function timestamp(nanos: bigint | undefined): CelTimestamp | undefined {
  return nanos === undefined ? undefined : new CelTimestamp(nanos);
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function parseBase64(json: string): Uint8Array | undefined {
  if (!base64.test(json)) return undefined;
  return Uint8Array.from(atob(json), (character) => character.codePointAt(0) ?? 0);
}
