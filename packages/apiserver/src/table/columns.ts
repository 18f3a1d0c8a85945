import type { TableColumn } from "../registry/resource-definition.ts";

/** The columns of a built-in kind after Name. */
export function columnsFor(_group: string, _version: string, _kind: string): readonly TableColumn[] {
  return [];
}
