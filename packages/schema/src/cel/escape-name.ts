/** Names of fields as CEL spells them: `namespace` → `__namespace__`, `a-b` → `a__dash__b`. */

import { lookupTable } from "@setpoint/apimachinery";

const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes: Readonly<Record<string, string>> = lookupTable({
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
  __: "__underscores__",
});

/** Keywords are valid field names: `self.namespace`. */
export function isKeyword(name: string): boolean {
  return reserved.has(name);
}

/** Undefined for names that CEL cannot spell. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (found) => escapes[found] ?? found);
}
