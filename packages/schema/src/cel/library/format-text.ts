/** `"%s is %d".format([name, count])`. */
import { CelDuration, CelFault, CelList, CelMap, CelTimestamp, CelTypeValue, CelUint, type Value } from "../value.ts";
import { durationText, timestampText } from "../time.ts";
import { doubleText } from "./conversions.ts";
import { itemsOf } from "./operators.ts";

/** As for all results of strings' functions. */
const resultLengthMax = 10_000_000;
const clause = /%(?:%|(?:\.(\d+))?([a-zA-Z]))/g;

const tooLong = new CelFault(`the text would have more than ${resultLengthMax} characters`);

export function formatText(template: string, list: CelList): Value {
  const args = itemsOf(list);
  let used = 0;
  let length = 0;
  let fault: CelFault | undefined;
  const text = template.replace(clause, (whole, precision: string | undefined, verb: string | undefined) => {
    if (verb === undefined) return "%";
    const value = args[used];
    used += 1;
    const result =
      value === undefined
        ? new CelFault(`index ${used - 1} out of range`)
        : formatValue(verb, value, precision === undefined ? 6 : Number(precision));
    if (!(result instanceof CelFault) && (length += result.length) <= resultLengthMax) return result;
    fault ??= result instanceof CelFault ? result : tooLong;
    return whole;
  });
  return fault ?? text;
}

function formatValue(verb: string, value: Value, precision: number): string | CelFault {
  const integer = typeof value === "bigint" ? value : value instanceof CelUint ? value.value : undefined;
  switch (verb) {
    case "s":
      return plainText(value);
    case "d":
      if (integer !== undefined) return String(integer);
      return typeof value === "number" && !Number.isFinite(value) ? doubleName(value) : wrong("decimal", "integers");
    case "f":
      return typeof value === "number" ? fixedText(value, precision) : wrong("fixed-point", "doubles");
    case "e":
      return typeof value === "number" ? scientificText(value, precision) : wrong("scientific", "doubles");
    case "b":
      if (typeof value === "boolean") return value ? "1" : "0";
      return integer === undefined ? wrong("binary", "integers and bools") : integer.toString(2);
    case "o":
      return integer === undefined ? wrong("octal", "integers") : integer.toString(8);
    case "x":
      return hexText(value, integer) ?? wrong("hex", "integers, byte buffers, and strings");
    case "X":
      return hexText(value, integer)?.toUpperCase() ?? wrong("hex", "integers, byte buffers, and strings");
    default:
      return new CelFault(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
}

function wrong(clauseName: string, wanted: string): CelFault {
  return new CelFault(`error during formatting: ${clauseName} clause can only be used on ${wanted}`);
}

function doubleName(value: number): string {
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

function fixedText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return doubleName(value);
  const text = value.toFixed(precision);
  // Go rounds halves to the even digit, JavaScript away from zero; more digits show whether it is exactly
  // half.
  const exact = value.toFixed(Math.min(100, precision + 60));
  const isHalf = /^50*$/.test(exact.slice(exact.indexOf(".") + 1 + precision));
  if (!isHalf || /[02468]$/.test(text)) return text;
  const below = exact.slice(0, exact.indexOf(".") + 1 + precision);
  return precision === 0 ? below.slice(0, -1) : below;
}

function scientificText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return doubleName(value);
  return value.toExponential(precision).replace(/e([-+])(\d)$/, "e$10$2");
}

function hexText(value: Value, integer: bigint | undefined): string | undefined {
  if (integer !== undefined) return integer.toString(16);
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (!(bytes instanceof Uint8Array)) return undefined;
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function plainText(value: Value): string | CelFault {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "boolean" || value === null) return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? doubleText(value) : doubleName(value);
  if (value instanceof CelUint) return String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof CelDuration) return durationText(value);
  if (value instanceof CelTimestamp) return timestampText(value);
  if (value instanceof CelTypeValue) return value.name;
  if (value instanceof CelList) return listText(value);
  if (value instanceof CelMap) return mapText(value);
  return wrong("string", "strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps");
}

function listText(list: CelList): string | CelFault {
  const parts = textsOf(itemsOf(list));
  return parts instanceof CelFault ? parts : `[${parts.join(", ")}]`;
}

function textsOf(values: readonly Value[]): readonly string[] | CelFault {
  const texts: string[] = [];
  for (const value of values) {
    const text = plainText(value);
    if (text instanceof CelFault) return text;
    texts.push(text);
  }
  return texts;
}

function mapText(map: CelMap): string | CelFault {
  const parts: string[] = [];
  for (const key of map.keys()) {
    const texts = textsOf([key, map.get(key) ?? null]);
    if (texts instanceof CelFault) return texts;
    parts.push(texts.join(": "));
  }
  return `{${parts.toSorted((a, b) => (a < b ? -1 : 1)).join(", ")}}`;
}
