/** Replaces the rules of a table in one transaction; pure. */
import { stickySetPrefix } from "./service-rules.ts";

const block = /^ {2}(chain|map|set) (\S+) \{$/gm;

interface Named {
  readonly kind: string;
  readonly name: string;
}

/**
 * From the rules that are in force to others: connections stay, and so do the clients that endpoints
 * remember.
 * `before` is empty when it is not known what is in force; then nothing is kept.
 */
export function replaceTable(table: string, before: string, after: string): string {
  const add = `add table inet ${table}\n`;
  const define = `table inet ${table} {\n${after}}\n`;
  if (before === "") return `${add}delete table inet ${table}\n${define}`;
  const kept = new Set(namesIn(after).flatMap(({ name }) => (name.startsWith(stickySetPrefix) ? [name] : [])));
  const gone = namesIn(before).filter(({ name }) => !kept.has(name));
  // A map refers to chains, so it goes first.
  const order = ["map", "set", "chain"];
  const removals = gone
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    .map(({ kind, name }) => `delete ${kind} inet ${table} ${name}\n`);
  return `${add}flush table inet ${table}\n${removals.join("")}${define}`;
}

function namesIn(rules: string): readonly Named[] {
  return [...rules.matchAll(block)].map(([, kind = "", name = ""]) => ({ kind, name }));
}
