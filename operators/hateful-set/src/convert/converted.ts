/** What a conversion gives, and how it reads fields of objects that nobody has checked. */
import type { HatefulSet } from "../kind/hateful-set.ts";

export interface Converted {
  readonly set: ReturnType<typeof HatefulSet>;
  /** What is not carried over as it is, and what to do. */
  readonly differences: readonly string[];
}

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at a path of fields; empty where there is none. */
export function fieldsAt(value: unknown, ...path: readonly string[]): Fields {
  let found: unknown = value;
  for (const name of path) found = isFields(found) ? found[name] : undefined;
  return isFields(found) ? found : {};
}

export function textAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

/** The entries that are texts. */
export function labelsOf(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
