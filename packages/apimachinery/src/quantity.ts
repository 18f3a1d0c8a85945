/** Resource quantities (`500m`, `1.5Gi`, `1e3`) with exact arithmetic. */
import { lookupTable } from "./lookup-table.ts";

/**
 * The notation in which a quantity is printed: suffixes of 1000 (`k`), of 1024 (`Ki`), or an exponent
 * (`1e3`).
 */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** A quantity in nano-units, the finest that the API knows; finer ones are rounded up, as upstream does. */
export interface Quantity {
  readonly nanos: bigint;
  /** The family of suffixes in which it is written. */
  readonly format: QuantityFormat;
}

const nano = 1_000_000_000n;
const binaryExponents: Readonly<Record<string, number>> = lookupTable({
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
});
const decimalExponents: Readonly<Record<string, number>> = lookupTable({
  n: -9,
  u: -6,
  m: -3,
  "": 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
});

/** Exponents beyond this are refused: arithmetic with such numbers takes seconds. */
const exponentMax = 1_000;
/** A body of megabytes could be one number, and arithmetic with it takes more than linear time. */
const digitsMax = 1_000;
/** Upstream caps binary quantities here, in whole units. */
const binaryNanosMax = (2n ** 63n - 1n) * nano;

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)$/;
const exponentPattern = /^[eE]([+-]?\d+)$/;

const malformed = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const unknownSuffix = "unable to parse quantity's suffix";

/** The parts of a quantity's text. */
interface QuantityParts {
  readonly isNegative: boolean;
  readonly whole: string;
  readonly fraction: string;
  readonly format: QuantityFormat;
  /** Of 2 for binary suffixes, else of 10. */
  readonly power: number;
}

/** Parses a quantity; numbers are taken as their decimal text. Errors: `Error` in upstream's words. */
export function parseQuantity(text: string | number | bigint): Quantity {
  const { isNegative, whole, fraction, format, power } = splitQuantity(String(text));
  const digits = BigInt(`${whole}${fraction}`);
  const size =
    format === "BinarySI"
      ? capped(shifted(digits * 2n ** BigInt(power), 9 - fraction.length))
      : shifted(digits, 9 + power - fraction.length);
  return { nanos: isNegative ? -size : size, format };
}

function splitQuantity(text: string): QuantityParts {
  const match = pattern.exec(text);
  if (match === null) throw new Error(malformed);
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  const digits = whole.length + fraction.length;
  // Upstream takes a text without any digit for zero.
  if (digits === 0 || digits > digitsMax) throw new Error(malformed);
  return { isNegative: sign === "-", whole, fraction, ...scaleOf(suffix) };
}

function scaleOf(suffix: string): Pick<QuantityParts, "format" | "power"> {
  const decimal = decimalExponents[suffix];
  if (decimal !== undefined) return { format: "DecimalSI", power: decimal };
  const binary = binaryExponents[suffix];
  if (binary !== undefined) return { format: "BinarySI", power: binary };
  const power = Number(exponentPattern.exec(suffix)?.[1] ?? Number.NaN);
  if (!(Math.abs(power) <= exponentMax)) throw new Error(unknownSuffix);
  return { format: "DecimalExponent", power };
}

/** Why a value is no quantity, in upstream's words; undefined when it is one. */
export function quantityProblem(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return malformed;
  try {
    splitQuantity(withoutSpaces(String(value)));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : malformed;
  }
}

/** `digits × 10^power`, rounded up to a whole number. */
function shifted(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  return ceilDivide(digits, 10n ** BigInt(-power));
}

function capped(nanos: bigint): bigint {
  return nanos > binaryNanosMax ? binaryNanosMax : nanos;
}

/** Upstream takes spaces around a quantity in JSON. */
function withoutSpaces(text: string): string {
  return text.replace(/^ +/, "").replace(/ +$/, "");
}

/** Less than, equal to or greater than zero, as `a` is to `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

/** The sum, in the format of the first (of the second when the first is zero, as upstream). */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos + b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/**
 * The difference, in the format of the first (of the second when the first is zero, as upstream). It may be
 * negative.
 */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return { nanos: a.nanos - b.nanos, format: a.nanos === 0n ? b.format : a.format };
}

/** The value in whole units, rounded up: bytes of a memory quantity. */
export function quantityValue({ nanos }: Quantity): bigint {
  return ceilDivide(nanos, nano);
}

/** The value in thousandths, rounded up: millicores of a CPU quantity. */
export function quantityMilliValue({ nanos }: Quantity): bigint {
  return ceilDivide(nanos, 1_000_000n);
}

function ceilDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value > 0n && value % divisor !== 0n ? quotient + 1n : quotient;
}

/** The canonical text: no fraction, the largest suffix that keeps all digits. */
export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return "0";
  const sign = nanos < 0n ? "-" : "";
  const size = nanos < 0n ? -nanos : nanos;
  const isWhole = size % nano === 0n;
  // Upstream writes binary quantities below 1024 and broken ones with decimal suffixes.
  if (format === "BinarySI" && isWhole && size / nano >= 1024n) return `${sign}${formatBinary(size / nano)}`;
  return `${sign}${formatDecimal(size, format === "DecimalExponent")}`;
}

function formatBinary(value: bigint): string {
  let mantissa = value;
  let suffix = "";
  for (const [name, exponent] of Object.entries(binaryExponents)) {
    const unit = 2n ** BigInt(exponent);
    if (value % unit !== 0n) break;
    mantissa = value / unit;
    suffix = name;
  }
  return `${mantissa}${suffix}`;
}

function formatDecimal(nanos: bigint, withExponent: boolean): string {
  let mantissa = nanos;
  let power = -9;
  while (mantissa % 1000n === 0n && (withExponent || power < 18)) {
    mantissa /= 1000n;
    power += 3;
  }
  if (withExponent) return power === 0 ? String(mantissa) : `${mantissa}e${power}`;
  const suffix = Object.entries(decimalExponents).find(([, exponent]) => exponent === power)?.[0] ?? "";
  return `${mantissa}${suffix}`;
}

const milli = 1_000_000n;

/** How finely a quantity is stored; `milli` in lists of resources, where upstream rounds away from zero. */
export type QuantityPrecision = "nano" | "milli";

/**
 * The text that the API stores for a quantity: the canonical one, except that upstream keeps some texts as
 * they are written (`1.500`, `1E3`, `+1`). Errors: as `parseQuantity`.
 */
export function canonicalQuantityText(value: string | number | bigint, precision: QuantityPrecision = "nano"): string {
  const text = withoutSpaces(String(value));
  const finest = precision === "milli" ? -3 : -9;
  if (isKept(text, splitQuantity(text), finest)) return text;
  const { nanos, format } = parseQuantity(text);
  return formatQuantity({ nanos: precision === "milli" ? roundedToMilli(nanos) : nanos, format });
}

function roundedToMilli(nanos: bigint): bigint {
  return nanos < 0n ? -ceilDivide(-nanos, milli) * milli : ceilDivide(nanos, milli) * milli;
}

/** Digits that upstream parses without big numbers. It keeps such a text when it takes it for canonical. */
const fastDigitsMax = 18;

function isKept(text: string, { whole, fraction, format, power }: QuantityParts, finest: number): boolean {
  const integer = whole.replace(/^0+(?=\d)/, "") || "0";
  const digits = `${integer}${fraction}`;
  if (format === "BinarySI") {
    const fits = integer.length <= 14 - Math.trunc((power * 3) / 10);
    return fits && fraction === "" && BigInt(integer) % 8n !== 0n;
  }
  const scale = power - fraction.length;
  if (digits.length > fastDigitsMax || scale < finest || scale % 3 !== 0) return false;
  return text === "0" || (!digits.startsWith("0") && !digits.endsWith("000"));
}
