/** The canonical form in which the API stores a quantity: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. */
import { lookupTable } from "@setpoint/apimachinery";

const binary = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const decimal: Readonly<Record<string, number>> = lookupTable({
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
const decimalByExponent = new Map(Object.entries(decimal).map(([suffix, exponent]) => [exponent, suffix]));
const form = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$/;

/** A few letters ask for a number of a million digits; quantities end at 2^63-1 anyway. */
const exponentMax = 100;
const digitsMax = 1_000;

/** A quantity's value as an exact number of billionths, or undefined when the text is none. */
export function quantityNanos(text: string | number): bigint | undefined {
  const match = form.exec(String(text));
  if (match === null) return undefined;
  const [, sign, digits = "", exponent, suffix = ""] = match;
  if (digits.length > digitsMax || Math.abs(Number(exponent?.slice(1) ?? 0)) > exponentMax) return undefined;
  const [whole = "", fraction = ""] = digits.split(".");
  let value = BigInt(`${whole}${fraction}` || "0");
  let scale = 9 - fraction.length;
  const power = binary.indexOf(suffix);
  if (exponent !== undefined) scale += Number(exponent.slice(1));
  else if (power > 0) value *= 1024n ** BigInt(power);
  else scale += decimal[suffix] ?? 0;
  // Finer than a billionth is rounded away from zero, as upstream does.
  if (scale >= 0) value *= 10n ** BigInt(scale);
  else value = divideUp(value, 10n ** BigInt(-scale));
  return sign === "-" ? -value : value;
}

function divideUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

/**
 * Most quantities are written as they are stored: less than the next unit has, in units that need no other.
 */
const usualForm = /^[1-9]\d{0,2}(?:m|[KMGTPE]i)?$/;

/** The text itself when it is not a quantity: validation reports it later. */
export function canonicalQuantity(text: string | number): string {
  if (typeof text === "string" && usualForm.test(text)) return text;
  const nanos = quantityNanos(text);
  if (nanos === undefined) return String(text);
  const match = form.exec(String(text));
  if (nanos === 0n) return "0";
  const isBinary = (match?.[4] ?? "").endsWith("i");
  const magnitude = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? "-" : "";
  if (isBinary && magnitude % 1_000_000_000n === 0n && magnitude >= 1024n * 1_000_000_000n)
    return sign + binaryForm(magnitude / 1_000_000_000n);
  return sign + decimalForm(magnitude, match?.[3] !== undefined);
}

function binaryForm(units: bigint): string {
  let power = 0;
  while (power < binary.length - 1 && units % 1024n === 0n) {
    units /= 1024n;
    power++;
  }
  return `${units}${binary[power]}`;
}

function decimalForm(nanos: bigint, asExponent: boolean): string {
  let exponent = -9;
  while (exponent < 18 && nanos % 1000n === 0n) {
    nanos /= 1000n;
    exponent += 3;
  }
  if (asExponent) return exponent === 0 ? `${nanos}` : `${nanos}e${exponent}`;
  return `${nanos}${decimalByExponent.get(exponent) ?? ""}`;
}
