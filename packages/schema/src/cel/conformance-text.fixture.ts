/** Values in the messages of failed cases. */
import { jsonOf } from "./json-values.ts";
import { CelDuration, CelFault, CelTimestamp, CelTypeValue, type Value } from "./value.ts";

export function jsonText(value: Value): string {
  if (value instanceof CelFault) return `error "${value.message}"`;
  if (value instanceof CelTypeValue) return `type ${value.name}`;
  if (value instanceof CelDuration || value instanceof CelTimestamp)
    return `${value.constructor.name} ${value.nanos}ns`;
  return JSON.stringify(jsonOf(value));
}
