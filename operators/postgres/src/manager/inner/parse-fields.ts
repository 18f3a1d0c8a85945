/** Checks the fields of a request: a client of another release may send other ones. */
import { Refusal } from "../refusal.ts";

export type Fields = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw unreadable(what, "an object");
}

export function objectIn(fields: Fields, name: string): Fields {
  return objectOf(fields[name], name);
}

export function textIn(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === "string" && !value.includes("\0")) return value;
  throw unreadable(name, "a text");
}

export function textOrNullIn(fields: Fields, name: string): string | null {
  return fields[name] === null ? null : textIn(fields, name);
}

export function integerIn(fields: Fields, name: string, min = 0): number {
  const value = fields[name];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min) return value;
  throw unreadable(name, `a whole number of at least ${min}`);
}

export function flagIn(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value === "boolean") return value;
  throw unreadable(name, "true or false");
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  if (Array.isArray(value)) return value;
  throw unreadable(name, "a list");
}

export function textsIn(fields: Fields, name: string): readonly string[] {
  return listIn(fields, name).map((each) => textIn({ [name]: each }, name));
}

/** The value is not repeated: it may be secret. */
function unreadable(name: string, expected: string): Refusal {
  return new Refusal(400, `Cannot read ${name}: expected ${expected}`);
}
