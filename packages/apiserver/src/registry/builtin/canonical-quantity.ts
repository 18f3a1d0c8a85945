/** The canonical form in which the API stores a quantity: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. */
import { formatQuantity, parseQuantity, type Quantity } from "@setpoint/apimachinery";

/** A quantity's value as an exact number of billionths, or undefined when the text is none. */
export function quantityNanos(text: string | number): bigint | undefined {
  return quantityOf(text)?.nanos;
}

/** The text itself when it is not a quantity: validation reports it later. */
export function canonicalQuantity(text: string | number): string {
  const quantity = quantityOf(text);
  return quantity === undefined ? String(text) : formatQuantity(quantity);
}

function quantityOf(text: string | number): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch {
    return undefined;
  }
}
