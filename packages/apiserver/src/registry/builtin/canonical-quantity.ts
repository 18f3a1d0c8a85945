/** Quantities of built-in objects, and the form in which the API stores them: `0.5` becomes `500m`. */
import { canonicalQuantityText, parseQuantity, type QuantityPrecision } from "@setpoint/apimachinery";

/** A quantity's value as an exact number of billionths, or undefined when the text is none. */
export function quantityNanos(text: string | number): bigint | undefined {
  return whereQuantity(() => parseQuantity(text).nanos);
}

/** The text itself when it is not a quantity: decoding refuses it in a request. */
export function canonicalQuantity(text: string | number | bigint, precision: QuantityPrecision): string {
  return whereQuantity(() => canonicalQuantityText(text, precision)) ?? String(text);
}

function whereQuantity<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
