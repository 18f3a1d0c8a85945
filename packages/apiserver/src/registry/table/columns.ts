/** The columns of every built-in kind, as kubectl shows them. */
import { lookupTable } from "@setpoint/apimachinery";
import type { TableColumn } from "../../response/table-column.ts";
import { ageColumn } from "./column-kinds.ts";
import { coreColumns } from "./core-columns.ts";
import { otherColumns } from "./other-columns.ts";
import { workloadKinds } from "./workload-columns.ts";

const table: Readonly<Record<string, readonly TableColumn[]>> = lookupTable({
  ...coreColumns,
  ...workloadKinds,
  ...otherColumns,
});
const onlyAge: readonly TableColumn[] = [ageColumn];

/**
 * The columns of a built-in kind after Name, each a function of the object and the time. Only Events have
 * their own Name column, at the end: a Table has no leading Name column when these columns contain one.
 */
export function columnsFor(group: string, _version: string, kind: string): readonly TableColumn[] {
  return table[`${group}/${kind}`] ?? onlyAge;
}
