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
const binaryExponents: Readonly<Record<string, bigint>> = lookupTable({
  Ki: 10n,
  Mi: 20n,
  Gi: 30n,
  Ti: 40n,
  Pi: 50n,
  Ei: 60n,
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

/** Exponents beyond this are refused; a quantity is capped at 2^63-1 anyway. */
const exponentMax = 100;
/** A body of megabytes could be one number, and arithmetic with it takes more than linear time. */
const digitsMax = 1_000;
/** Upstream caps quantities here, in whole units. */
const nanosMax = (2n ** 63n - 1n) * nano;

const pattern = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)$/;

function invalidQuantity(): Error {
  return new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

/** Parses a quantity; numbers are taken as their decimal text. Errors: `Error` in upstream's words. */
export function parseQuantity(text: string | number): Quantity {
  const match = pattern.exec(String(text));
  if (match === null) throw invalidQuantity();
  const [, sign, whole = "", fraction = "", exponent, suffix = ""] = match;
  if (whole === "" && fraction === "") throw invalidQuantity();
  if (whole.length + fraction.length > digitsMax) throw invalidQuantity();
  const digits = BigInt(`${whole}${fraction}` || "0");
  const scale = fraction.length;
  const isBinary = Object.hasOwn(binaryExponents, suffix);
  const power = exponent === undefined ? (decimalExponents[suffix] ?? 0) : Number(exponent.slice(1));
  if (Math.abs(power) > exponentMax) throw invalidQuantity();
  const factor = isBinary ? 2n ** (binaryExponents[suffix] ?? 0n) : 1n;
  const size = capped(shifted(digits * factor, 9 + power - scale));
  const format = exponent !== undefined ? "DecimalExponent" : isBinary ? "BinarySI" : "DecimalSI";
  return { nanos: sign === "-" ? -size : size, format };
}

/** `digits × 10^power`, rounded up to a whole number. */
function shifted(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}

function capped(nanos: bigint): bigint {
  return nanos > nanosMax ? nanosMax : nanos;
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
    if (value % 2n ** exponent !== 0n) break;
    mantissa = value / 2n ** exponent;
    suffix = name;
  }
  return `${mantissa}${suffix}`;
}

function formatDecimal(nanos: bigint, withExponent: boolean): string {
  let mantissa = nanos;
  let power = -9;
  while (mantissa % 1000n === 0n && power < 18) {
    mantissa /= 1000n;
    power += 3;
  }
  if (withExponent) return power === 0 ? String(mantissa) : `${mantissa}e${power}`;
  const suffix = Object.entries(decimalExponents).find(([, exponent]) => exponent === power)?.[0] ?? "";
  return `${mantissa}${suffix}`;
}
