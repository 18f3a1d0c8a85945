/** Conversions between types, and `size`. */
import { compilePattern } from "../../pattern.ts";
import { matchesPattern, readsFirst, searchesText } from "../cost.ts";
import { member, plain, type Library, type Overload } from "../overload.ts";
import {
  calendarFields,
  durationText,
  parseGoDuration,
  parseTimestamp,
  timestampOf,
  timestampText,
  type CalendarFields,
} from "../time.ts";
import {
  CelDuration,
  CelFault,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  characterCount,
  typeNameOf,
  type Value,
} from "../value.ts";
import { intOf, uintOf } from "./operators.ts";

const second = 1_000_000_000n;

function doubleToInt(value: number): Value {
  if (!Number.isFinite(value) || value <= -(2 ** 63) || value >= 2 ** 63) return new CelFault("integer overflow");
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): Value {
  if (!Number.isFinite(value) || value < 0 || value >= 2 ** 64) return new CelFault("unsigned integer overflow");
  return new CelUint(BigInt(Math.trunc(value)));
}

function notConvertible(type: string): CelFault {
  return new CelFault(`type conversion error from 'string' to '${type}'`);
}

function textToInt(text: string): Value {
  const value = /^[-+]?\d{1,1000}$/.test(text) ? intOf(BigInt(text.replace("+", ""))) : undefined;
  return value === undefined || value instanceof CelFault ? notConvertible("int") : value;
}

function textToUint(text: string): Value {
  const value = /^\d{1,1000}$/.test(text) ? uintOf(BigInt(text)) : undefined;
  return value === undefined || value instanceof CelFault ? notConvertible("uint") : value;
}

const doubleForm = /^[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|inf(?:inity)?|nan)$/i;

function textToDouble(text: string): Value {
  if (!doubleForm.test(text)) return notConvertible("double");
  if (/nan$/i.test(text)) return Number.NaN;
  if (/inf/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return Number(text);
}

const trueTexts: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const falseTexts: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

function textToBool(text: string): Value {
  if (trueTexts.has(text)) return true;
  if (falseTexts.has(text)) return false;
  return notConvertible("bool");
}

function bytesToText(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelFault("invalid UTF-8 in bytes, cannot convert to string");
  }
}

export function doubleText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const size = Math.abs(value);
  // Go's %g: an exponent of at least two digits, from 1e21 on and below 1e-4.
  if (size !== 0 && (size < 1e-4 || size >= 1e21)) return value.toExponential().replace(/e([-+])(\d)$/, "e$10$2");
  return String(value);
}

function textToDuration(text: string): Value {
  const nanos = parseGoDuration(text);
  return nanos === undefined ? notConvertible("google.protobuf.Duration") : new CelDuration(nanos);
}

function textToTimestamp(text: string): Value {
  const nanos = parseTimestamp(text);
  return nanos === undefined ? notConvertible("google.protobuf.Timestamp") : timestampOf(nanos);
}

export function matches(text: string, pattern: string): Value {
  const compiled = compilePattern(pattern);
  if (compiled?.isBeyond(text) === true) return new CelFault("the text is too long for the pattern");
  return compiled === undefined ? new CelFault(`error parsing regexp: \`${pattern}\``) : compiled.matches(text);
}

function calendarGetter(read: (fields: CalendarFields) => number): readonly Overload[] {
  const get = (time: CelTimestamp, zone: string): Value => {
    const fields = calendarFields(time, zone);
    return fields === undefined ? new CelFault(`unknown time zone ${zone}`) : BigInt(read(fields));
  };
  return [member(["timestamp"], "int", (time) => get(time, "UTC")), member(["timestamp", "string"], "int", get)];
}

export const conversions: Library = {
  size: [plain, member].flatMap((form) => [
    form(["bytes"], "int", (value) => BigInt(value.length)),
    form(["list(A)"], "int", (value) => BigInt(value.length)),
    form(["map(A, B)"], "int", (value) => BigInt(value.size)),
    form(["string"], "int", (value) => BigInt(characterCount(value))),
  ]),
  dyn: [plain(["A"], "dyn", (value) => value)],
  type: [plain(["A"], "type(A)", (value) => new CelTypeValue(typeNameOf(value)))],
  bool: [plain(["bool"], "bool", (value) => value), plain(["string"], "bool", textToBool)],
  bytes: [
    plain(["bytes"], "bytes", (value) => value),
    plain(["string"], "bytes", (value) => new TextEncoder().encode(value), readsFirst),
  ],
  double: [
    plain(["double"], "double", (value) => value),
    plain(["int"], "double", Number),
    plain(["string"], "double", textToDouble),
    plain(["uint"], "double", ({ value }) => Number(value)),
  ],
  int: [
    plain(["int"], "int", (value) => value),
    plain(["double"], "int", doubleToInt),
    plain(["duration"], "int", ({ nanos }) => nanos),
    plain(["string"], "int", textToInt),
    plain(["timestamp"], "int", ({ nanos }) => (nanos - (((nanos % second) + second) % second)) / second),
    plain(["uint"], "int", ({ value }) => intOf(value)),
  ],
  uint: [
    plain(["uint"], "uint", (value) => value),
    plain(["double"], "uint", doubleToUint),
    plain(["int"], "uint", uintOf),
    plain(["string"], "uint", textToUint),
  ],
  string: [
    plain(["string"], "string", (value) => value),
    plain(["bool"], "string", String),
    plain(["bytes"], "string", bytesToText, readsFirst),
    plain(["double"], "string", doubleText),
    plain(["duration"], "string", durationText),
    plain(["int"], "string", String),
    plain(["timestamp"], "string", timestampText),
    plain(["uint"], "string", ({ value }) => String(value)),
  ],
  duration: [
    plain(["duration"], "duration", (value) => value),
    plain(["int"], "duration", (value) => new CelDuration(value)),
    plain(["string"], "duration", textToDuration),
  ],
  timestamp: [
    plain(["timestamp"], "timestamp", (value) => value),
    plain(["int"], "timestamp", (value) => timestampOf(value * second)),
    plain(["string"], "timestamp", textToTimestamp),
  ],
  matches: [
    plain(["string", "string"], "bool", matches, matchesPattern),
    member(["string", "string"], "bool", matches, matchesPattern),
  ],
  contains: [member(["string", "string"], "bool", (text, part) => text.includes(part), searchesText)],
  startsWith: [member(["string", "string"], "bool", (text, part) => text.startsWith(part), readsFirst)],
  endsWith: [member(["string", "string"], "bool", (text, part) => text.endsWith(part), readsFirst)],
  getFullYear: calendarGetter(({ year }) => year),
  getMonth: calendarGetter(({ month }) => month),
  getDayOfYear: calendarGetter(({ dayOfYear }) => dayOfYear),
  getDayOfMonth: calendarGetter(({ day }) => day - 1),
  getDate: calendarGetter(({ day }) => day),
  getDayOfWeek: calendarGetter(({ weekday }) => weekday),
  getHours: [
    ...calendarGetter(({ hours }) => hours),
    member(["duration"], "int", ({ nanos }) => nanos / (3600n * second)),
  ],
  getMinutes: [
    ...calendarGetter(({ minutes }) => minutes),
    member(["duration"], "int", ({ nanos }) => nanos / (60n * second)),
  ],
  getSeconds: [...calendarGetter(({ seconds }) => seconds), member(["duration"], "int", ({ nanos }) => nanos / second)],
  getMilliseconds: [
    ...calendarGetter(({ milliseconds }) => milliseconds),
    member(["duration"], "int", ({ nanos }) => (nanos / 1_000_000n) % 1000n),
  ],
};
