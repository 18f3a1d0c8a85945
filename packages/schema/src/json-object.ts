/** Whether a value is a JSON object that this code may change: a copy of its own. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
