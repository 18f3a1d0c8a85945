/** What becomes of each field of a kind of CloudNativePG: a table that given fields are compared with. */
import { isDeepStrictEqual } from "node:util";
import type { Reason, Report } from "./difference.ts";
import { isObject } from "./fields.ts";

/** A field that has one of the values of `same` means what a cluster does without it. */
export type Treatment = "carried" | (Reason & { readonly same?: readonly unknown[] });

/**
 * By path below the spec: `roles[].name` is that of each item. A path with an object or a list is about all
 * of it, and `storage.*` about the fields of `storage` that have no path of their own.
 */
export type FieldTable = Readonly<Record<string, Treatment>>;

/** The same table below another field. */
export function below(prefix: string, table: FieldTable): FieldTable {
  return Object.fromEntries(Object.entries(table).map(([path, treatment]) => [`${prefix}.${path}`, treatment]));
}

/** What the table has for a path such as `tablespaces[].name`; undefined: the field is unknown. */
export function treatmentOf(table: FieldTable, path: string): Treatment | undefined {
  return table[path] ?? table[`${path.slice(0, Math.max(0, path.lastIndexOf(".")))}.*`];
}

/** Reports each field that the table does not carry over. */
export function compareFields(table: FieldTable, value: unknown, root: string, report: Report): void {
  compare(value, "", root);

  function compare(value: unknown, pattern: string, path: string): void {
    if (value === null || value === undefined) return;
    const treatment = pattern === "" ? undefined : table[pattern];
    if (treatment !== undefined) return apply(treatment, value, path);
    if (hasBelow(table, pattern)) return compareParts(value, pattern, path);
    const rest = treatmentOf(table, pattern);
    if (rest !== undefined) return apply(rest, value, path);
    report.add(path, "unknown", "CloudNativePG 1.27 has no such field", "check its spelling");
  }

  function compareParts(value: unknown, pattern: string, path: string): void {
    if (Array.isArray(value)) return value.forEach((item, index) => compare(item, `${pattern}[]`, `${path}[${index}]`));
    if (!isObject(value)) return;
    for (const [name, part] of Object.entries(value))
      compare(part, pattern === "" ? name : `${pattern}.${name}`, `${path}.${name}`);
  }

  function apply(treatment: Treatment, value: unknown, path: string): void {
    if (treatment === "carried" || treatment.same?.some((each) => isDeepStrictEqual(each, value)) === true) return;
    report.add(path, treatment.outcome, treatment.why, treatment.todo);
  }
}

function hasBelow(table: FieldTable, pattern: string): boolean {
  if (pattern === "") return true;
  return Object.keys(table).some((path) => path.startsWith(`${pattern}.`) || path.startsWith(`${pattern}[]`));
}

/** It has no place in what is written. */
export function dropped(why: string, todo?: string, same?: readonly unknown[]): Treatment {
  return reason("dropped", why, todo, same);
}

/** It happens without the field. */
export function unneeded(why: string, todo?: string, same?: readonly unknown[]): Treatment {
  return reason("unneeded", why, todo, same);
}

/** A person must do it. */
export function byHand(why: string, todo: string, same?: readonly unknown[]): Treatment {
  return reason("byHand", why, todo, same);
}

/** It becomes something else. */
export function changed(why: string, todo?: string, same?: readonly unknown[]): Treatment {
  return reason("changed", why, todo, same);
}

function reason(outcome: Reason["outcome"], why: string, todo?: string, same?: readonly unknown[]): Treatment {
  return { outcome, why, ...(todo === undefined ? {} : { todo }), ...(same === undefined ? {} : { same }) };
}
