/** Quantities of Kubernetes as the plain numbers that Prometheus reads. */
import { parseQuantity } from "setpoint/kinds";

const nano = 1_000_000_000;

export function decimalOf(quantity: string | number): number {
  return Number(parseQuantity(String(quantity)).nanos) / nano;
}
