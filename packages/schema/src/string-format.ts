/** The string formats that Kubernetes enforces; every other format is only documentation. */
import { lookupTable } from "@setpoint/apimachinery";
import type { StructuralSchema } from "./structural-schema.ts";

const octet = "(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)";
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`);
const dateTime = /^(\d{4}-\d\d-\d\d)[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
// A run of digits can be read in one way only: in `\d+\.?\d*` the time grows with the square of a long one.
const goDuration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const wordyDuration =
  /^\d+(?:\.\d+)?\s*(?:ns|nanos?|us|µs|micros?|ms|millis?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/i;
const uuid = (version: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, "i");
const label = "[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?";

const tests: Readonly<Record<string, (text: string) => boolean>> = lookupTable({
  bsonobjectid: matching(/^[0-9a-f]{24}$/i),
  uri: isUri,
  email: matching(/^[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\"]+$/),
  hostname: (text) => text.length <= 253 && new RegExp(`^${label}(?:\\.${label})*$`, "i").test(text),
  ipv4: matching(ipv4),
  ipv6: isIpv6,
  cidr: isCidr,
  mac: matching(/^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4})$/i),
  uuid: matching(uuid("[0-9a-f]")),
  uuid3: matching(uuid("3")),
  uuid4: matching(uuid("4")),
  uuid5: matching(uuid("5")),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matching(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matching(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i),
  rgbcolor: isRgbColor,
  byte: matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  date: isDate,
  duration: (text) => goDuration.test(text) || wordyDuration.test(text),
  datetime: isDateTime,
  "date-time": isDateTime,
});

/** Whether the text has the format; unknown formats hold for every text. */
export function hasFormat(format: string, text: string): boolean {
  return tests[format]?.(text) ?? true;
}

/** The formats of texts in a schema that mean nothing to Kubernetes. */
export function unknownFormats(schema: StructuralSchema): ReadonlySet<string> {
  const { type, format, properties = {}, items, additionalProperties } = schema;
  const isUnknown = type === "string" && format !== undefined && format !== "" && !isKnown(format);
  const children = [...Object.values(properties), items, additionalProperties].filter(
    (each) => typeof each === "object",
  );
  return new Set([...(isUnknown ? [format] : []), ...children.flatMap((each) => [...unknownFormats(each)])]);
}

function isKnown(format: string): boolean {
  return tests[format] !== undefined || format === "password" || format.startsWith("k8s-");
}

function matching(expression: RegExp): (text: string) => boolean {
  return (text) => expression.test(text);
}

function isUri(text: string): boolean {
  // Go's url.ParseRequestURI: a scheme or an absolute path, and no space or control character.
  return /^(?:\/|[a-z][a-z0-9+.-]*:.)[^\s\p{Cc}]*$/iu.test(text);
}

function isIpv6(text: string): boolean {
  const embedded = text.replace(/(^|:)((?:\d{1,3}\.){3}\d{1,3})$/, (whole, colon: string, address: string) =>
    ipv4.test(address) ? `${colon}0:0` : whole,
  );
  if (!/^[0-9a-f:]+$/i.test(embedded)) return false;
  const halves = embedded.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const full = halves.length === 2 ? groups.length < 8 : groups.length === 8;
  return full && groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group));
}

function isCidr(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  return (ipv4.test(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}

function isDate(text: string): boolean {
  const [year, month, day] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []).slice(1).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

function isDateTime(text: string): boolean {
  const date = dateTime.exec(text)?.[1];
  return date !== undefined && isDate(date);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (total, digit, index) => total + (10 - index) * (digit === "X" ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return (
    Array.from(digits).reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0
  );
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^\d]/g, "");
  if (!/^\d{13,19}$/.test(digits)) return false;
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, character, index) => {
      const digit = Number(character) * (index % 2 === 0 ? 1 : 2);
      return total + (digit > 9 ? digit - 9 : digit);
    }, 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text)?.slice(1);
  return parts !== undefined && parts.every((part) => Number(part) <= 255);
}
