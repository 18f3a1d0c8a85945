/** The types of JSON values; unlike `typeof` it distinguishes arrays and null from objects. */
export type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "boolean" || type === "object" ? type : "number";
}
