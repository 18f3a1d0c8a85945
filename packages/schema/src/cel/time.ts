/** Durations and timestamps: reading, writing, calendar fields. */
import { lookupTable } from "@setpoint/apimachinery";
import { CelDuration, CelFault, CelTimestamp } from "./value.ts";

const unitNanos: Readonly<Record<string, bigint>> = lookupTable({
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
});

const second = 1_000_000_000n;
const timestampMin = -62_135_596_800n * second;
const timestampMax = 253_402_300_800n * second - 1n;

/** Go's `time.ParseDuration`: `1h30m`, `-1.5s`, `0`. Undefined when it is none. */
export function parseGoDuration(text: string): bigint | undefined {
  const [, sign, body = ""] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  if (body === "0") return 0n;
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = unitNanos[unit] ?? 0n;
    nanos += BigInt(whole || "0") * scale;
    if (fraction !== "") nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  const signed = sign === "-" ? -nanos : nanos;
  return BigInt.asIntN(64, signed) === signed ? signed : undefined;
}

const wordUnits: readonly (readonly [RegExp, bigint])[] = [
  [/^(?:ns|nano|nanosec|nanosecs|nanosecond|nanoseconds)$/, 1n],
  [/^(?:us|µs|micro|micros|microsecond|microseconds)$/, 1_000n],
  [/^(?:ms|milli|millis|millisecond|milliseconds)$/, 1_000_000n],
  [/^(?:s|sec|secs|second|seconds)$/, second],
  [/^(?:m|min|mins|minute|minutes)$/, 60n * second],
  [/^(?:h|hr|hour|hours)$/, 3600n * second],
  [/^(?:d|day|days)$/, 86_400n * second],
  [/^(?:w|wk|week|weeks)$/, 604_800n * second],
];

/** The format `duration` of schemas: Go's form, or `3 days`. */
export function parseSchemaDuration(text: string): bigint | undefined {
  const exact = parseGoDuration(text);
  if (exact !== undefined) return exact;
  let nanos: bigint | undefined;
  for (const [, count = "0", unit = ""] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    const scale = wordUnits.find(([names]) => names.test(unit.toLowerCase()))?.[1];
    if (scale === undefined) return undefined;
    nanos = (nanos ?? 0n) + BigInt(count) * scale;
  }
  return nanos;
}

export function durationOf(nanos: bigint): CelDuration | CelFault {
  return BigInt.asIntN(64, nanos) === nanos ? new CelDuration(nanos) : new CelFault("integer overflow");
}

export function timestampOf(nanos: bigint): CelTimestamp | CelFault {
  return nanos >= timestampMin && nanos <= timestampMax ? new CelTimestamp(nanos) : new CelFault("timestamp overflow");
}

/** Days since 1970 of a date of the Gregorian calendar. */
function daysOf(year: number, month: number, day: number): bigint {
  // Date.UTC takes years below 100 for the twentieth century, hence 400 years more and 146,097 days less.
  return BigInt(Date.UTC(year + 400, month - 1, day)) / 86_400_000n - 146_097n;
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:([Zz])|([+-])(\d\d):(\d\d))$/;

/** RFC 3339; undefined when it is none. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = rfc3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, seconds = 0] = match.slice(1, 7).map(Number);
  const [fraction = "", , sign, offsetHour = "0", offsetMinute = "0"] = match.slice(7);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || seconds > 59) return undefined;
  const offset = (Number(offsetHour) * 3600 + Number(offsetMinute) * 60) * (sign === "-" ? -1 : 1);
  const inDay = BigInt(hour * 3600 + minute * 60 + seconds - (sign === undefined ? 0 : offset));
  return (daysOf(year, month, day) * 86_400n + inDay) * second + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** The format `date` of schemas. */
export function parseDate(text: string): bigint | undefined {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined;
}

/** The format `date-time` of schemas is looser: the zone may be missing. */
export function parseDateTime(text: string): bigint | undefined {
  return parseTimestamp(text) ?? parseTimestamp(`${text}Z`);
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

export interface CalendarFields {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  /** From 1. */
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
  /** Sunday is 0. */
  readonly weekday: number;
  /** From 0. */
  readonly dayOfYear: number;
}

/** Undefined when there is no such zone. */
export function calendarFields({ nanos }: CelTimestamp, zone: string): CalendarFields | undefined {
  const offset = zoneOffsetSeconds(nanos, zone);
  if (offset === undefined) return undefined;
  const millis = Number(floorDivide(nanos + BigInt(offset) * second, 1_000_000n));
  const date = new Date(millis);
  const year = date.getUTCFullYear();
  const [month, day] = [date.getUTCMonth(), date.getUTCDate()];
  return {
    year,
    month,
    day,
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: date.getUTCMilliseconds(),
    weekday: date.getUTCDay(),
    dayOfYear: Number(daysOf(year, month + 1, day) - daysOf(year, 1, 1)),
  };
}

function zoneOffsetSeconds(nanos: bigint, zone: string): number | undefined {
  if (zone === "" || zone === "UTC") return 0;
  const fixed = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (fixed !== null) {
    const size = Number(fixed[2]) * 3600 + Number(fixed[3]) * 60;
    return fixed[1] === "-" ? -size : size;
  }
  try {
    const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
    const parts = format.formatToParts(new Date(Number(floorDivide(nanos, 1_000_000n))));
    const text = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    const [, sign, hours = "0", minutes = "0", seconds = "0"] =
      /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text) ?? [];
    const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    return sign === "-" ? -size : size;
  } catch {
    // Intl reports an unknown zone only by throwing.
    return undefined;
  }
}

/** `2024-01-02T03:04:05.678Z`. */
export function timestampText({ nanos }: CelTimestamp): string {
  const millis = Number(floorDivide(nanos, 1_000_000n));
  const fraction = nanos - floorDivide(nanos, second) * second;
  const date = new Date(millis).toISOString().slice(0, 19);
  const digits = fraction === 0n ? "" : `.${fraction.toString().padStart(9, "0").replace(/0+$/, "")}`;
  return `${date}${digits}Z`;
}

/** Seconds with `s`: cel-go prints `3600s` and `1.5s`. */
export function durationText({ nanos }: CelDuration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = size % second;
  const digits = fraction === 0n ? "" : `.${fraction.toString().padStart(9, "0").replace(/0+$/, "")}`;
  return `${nanos < 0n ? "-" : ""}${size / second}${digits}s`;
}
