/**
 * Reads fields of request bodies that are not validated yet: what is not there, or is of another
 * type, is empty.
 */

export type JsonRecord = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): JsonRecord {
  return typeof value === "object" && value !== null ? (value as JsonRecord) : {};
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function asStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
