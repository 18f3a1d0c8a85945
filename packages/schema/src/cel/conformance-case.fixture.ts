/**
 * The cases of the CEL specification in the form of our engine: types of variables, values, expected results.
 */
import type { JsonObject } from "@setpoint/apimachinery";
import { jsonText } from "./conformance-text.fixture.ts";
import { compile } from "./program.ts";
import { equals } from "./comparison.ts";
import { parseGoDuration, parseTimestamp } from "./time.ts";
import { dynType, listType, mapType, typeText, type CelType, type ScalarKind } from "./type.ts";
import {
  CelDuration,
  CelFault,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  PlainList,
  PlainMap,
  type Value,
} from "./value.ts";

/** One case as the package has it: protobuf's JSON. */
export interface ConformanceCase {
  readonly name?: string;
  readonly expr: string;
  readonly value?: JsonObject;
  readonly evalError?: JsonObject;
  readonly typedResult?: { readonly result?: JsonObject; readonly deducedType?: JsonObject };
  readonly bindings?: Readonly<Record<string, JsonObject>>;
  readonly typeEnv?: readonly JsonObject[];
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
}

/** Thrown for values and types that only protobuf has. */
export class NeedsProtobuf extends Error {}

const costMax = 10_000_000;

/** Undefined when the engine's result matches the case, otherwise that result. */
export function runCase(test: ConformanceCase): string | undefined {
  const variables = variablesOf(test);
  const program = compile(test.expr, new Map(variables.map(({ name, type }) => [name, type])));
  const { evalError, typedResult } = test;
  if (typeof program === "string") return evalError === undefined ? `does not compile: ${program}` : undefined;
  const deduced = typedResult?.deducedType;
  if (deduced !== undefined && typeText(program.type) !== typeText(typeOf(deduced))) {
    return `is of type ${typeText(program.type)}`;
  }
  if (test.checkOnly === true) return undefined;
  const { value } = program.run(
    variables.map((each) => each.value),
    costMax,
  );
  if (evalError !== undefined)
    return value instanceof CelFault ? undefined : `is ${jsonText(value)}, expected an error`;
  const wanted = valueOf(test.value ?? typedResult?.result ?? { boolValue: true });
  return isSame(value, wanted) ? undefined : `is ${jsonText(value)}, expected ${jsonText(wanted)}`;
}

interface Variable {
  readonly name: string;
  readonly type: CelType;
  readonly value: Value;
}

function variablesOf({ typeEnv = [], bindings = {} }: ConformanceCase): readonly Variable[] {
  return typeEnv.map((declaration) => {
    const name = String(declaration["name"]);
    const { ident } = declaration as { readonly ident?: { readonly type?: JsonObject } };
    if (ident?.type === undefined) throw new NeedsProtobuf("a function of the test's own");
    const bound = bindings[name] as { readonly value?: JsonObject } | undefined;
    const value = bound?.value === undefined ? new CelFault(`no such attribute: ${name}`) : valueOf(bound.value);
    return { name, type: typeOf(ident.type), value };
  });
}

const primitives: Readonly<Record<string, ScalarKind>> = {
  BOOL: "bool",
  INT64: "int",
  UINT64: "uint",
  DOUBLE: "double",
  STRING: "string",
  BYTES: "bytes",
};

const wellKnown: Readonly<Record<string, ScalarKind>> = { TIMESTAMP: "timestamp", DURATION: "duration", ANY: "dyn" };

export function typeOf(type: JsonObject): CelType {
  const [[form, of] = ["dyn", undefined]] = Object.entries(type);
  const inner = of as JsonObject;
  switch (form) {
    case "primitive":
      return { kind: primitives[String(of)] ?? "dyn" };
    case "wellKnown":
      return { kind: wellKnown[String(of)] ?? "dyn" };
    case "null":
      return { kind: "null" };
    case "dyn":
      return dynType;
    case "listType":
      return listType(typeOf((inner["elemType"] ?? {}) as JsonObject));
    case "mapType":
      return mapType(typeOf((inner["keyType"] ?? {}) as JsonObject), typeOf((inner["valueType"] ?? {}) as JsonObject));
    case "type":
      return { kind: "type", of: Object.keys(inner).length === 0 ? undefined : typeOf(inner) };
    case "abstractType":
      return abstractType(inner);
    case "messageType":
      return messageType(String(of));
    default:
      throw new NeedsProtobuf(`type ${form}`);
  }
}

function abstractType({ name, parameterTypes = [] }: JsonObject): CelType {
  const parameters = (parameterTypes as readonly JsonObject[]).map(typeOf);
  return { kind: "opaque", name: String(name), parameters };
}

function messageType(name: string): CelType {
  if (name === "google.protobuf.Timestamp") return { kind: "timestamp" };
  if (name === "google.protobuf.Duration") return { kind: "duration" };
  throw new NeedsProtobuf(`message ${name}`);
}

export function valueOf(value: JsonObject): Value {
  const [[form, of] = ["nullValue", null]] = Object.entries(value);
  switch (form) {
    case "int64Value":
      return BigInt(String(of));
    case "uint64Value":
      return new CelUint(BigInt(String(of)));
    case "doubleValue":
      return Number(String(of));
    case "stringValue":
      return String(of);
    case "bytesValue":
      return Uint8Array.from(atob(String(of)), (each) => each.codePointAt(0) ?? 0);
    case "boolValue":
      return of === true;
    case "nullValue":
      return null;
    case "listValue":
      return new PlainList(((of as { values?: readonly JsonObject[] }).values ?? []).map(valueOf));
    case "mapValue":
      return mapOf(of as { readonly entries?: readonly MapEntry[] });
    case "typeValue":
      return new CelTypeValue(String(of));
    case "objectValue":
      return objectOf(of as JsonObject);
    default:
      throw new NeedsProtobuf(form);
  }
}

interface MapEntry {
  readonly key: JsonObject;
  readonly value: JsonObject;
}

function mapOf({ entries = [] }: { readonly entries?: readonly MapEntry[] }): CelMap {
  return new PlainMap(entries.map(({ key, value }) => [valueOf(key), valueOf(value)] as const));
}

function objectOf(object: JsonObject): Value {
  const { "@type": type = "", value } = object;
  if (type === "type.googleapis.com/google.protobuf.Duration") {
    return new CelDuration(parseGoDuration(String(value)) ?? 0n);
  }
  if (type === "type.googleapis.com/google.protobuf.Timestamp") {
    return new CelTimestamp(parseTimestamp(String(value)) ?? 0n);
  }
  throw new NeedsProtobuf(String(type));
}

/** As the specification compares: types count, NaN is NaN. */
function isSame(a: Value, b: Value): boolean {
  if (typeof a === "number" && typeof b === "number") return Object.is(a, b) || a === b;
  if (a instanceof CelUint !== b instanceof CelUint || typeof a !== typeof b) return false;
  if (a instanceof CelList && b instanceof CelList) {
    if (a.length !== b.length) return false;
    return Array.from({ length: a.length }, (_, index) => index).every((index) => isSame(a.get(index), b.get(index)));
  }
  if (a instanceof CelMap && b instanceof CelMap) {
    return a.size === b.size && a.keys().every((key) => isSame(a.get(key) ?? null, b.get(key) ?? null));
  }
  return equals(a, b);
}
