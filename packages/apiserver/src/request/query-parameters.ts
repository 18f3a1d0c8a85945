import type { ApiRequest } from "@setpoint/apimachinery";

export type Query = NonNullable<ApiRequest["query"]>;

/** The first value of a parameter, "" when it is absent: the API does not tell absent and empty apart. */
export function parameter(query: Query | undefined, name: string): string {
  const value = query?.[name];
  if (value === undefined) return "";
  return typeof value === "string" ? value : (value[0] ?? "");
}

export function parameters(query: Query | undefined, name: string): readonly string[] {
  const value = query?.[name];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}

/**
 * As Go's API conversion reads booleans: absent, empty, "0" and "false" are false, a bare `?watch` is true.
 */
export function booleanParameter(query: Query | undefined, name: string): boolean {
  const value = query?.[name];
  if (value === undefined) return false;
  const text = typeof value === "string" ? value : (value[0] ?? "");
  return text !== "0" && text.toLowerCase() !== "false";
}
