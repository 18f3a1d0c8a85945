/** The smallest and largest integer of an OpenAPI format. */
import { isJsonInteger, lookupTable } from "@setpoint/apimachinery";

const ranges: Readonly<Record<string, readonly [bigint, bigint]>> = lookupTable({
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
});

/** Whether the number is whole and fits the format; without one it only has to be whole. */
export function isIntegerOf(format: string | undefined, value: unknown): boolean {
  if (!isJsonInteger(value)) return false;
  const range = format === undefined ? undefined : ranges[format];
  return range === undefined || (value >= range[0] && value <= range[1]);
}
