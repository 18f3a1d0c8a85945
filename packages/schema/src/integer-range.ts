/** The smallest and largest integer of an OpenAPI format. */
import { lookupTable } from "@setpoint/apimachinery";

const ranges: Readonly<Record<string, readonly [number, number]>> = lookupTable({
  int32: [-(2 ** 31), 2 ** 31 - 1],
  // The least double above the largest int64 is 2 ** 63, which is also what parsing that number gives.
  int64: [-(2 ** 63), 2 ** 63],
});

/** Whether the number is whole and fits the format; without one it only has to be whole. */
export function isIntegerOf(format: string | undefined, value: unknown): boolean {
  if (typeof value !== "number" || !Number.isInteger(value)) return false;
  const range = format === undefined ? undefined : ranges[format];
  return range === undefined || (value >= range[0] && value <= range[1]);
}
