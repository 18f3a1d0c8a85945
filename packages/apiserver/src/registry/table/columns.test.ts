import { readFileSync } from "node:fs";
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { expect, test } from "vitest";
import { builtinResources } from "../builtin/builtin-resources.ts";

interface RecordedTable {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly columns: readonly (readonly [name: string, type: string, priority: number])[];
  /** Cells that depend on the time are null. */
  readonly rows: readonly { readonly cells: readonly unknown[]; readonly object: UnstructuredObject }[];
}

const recorded = JSON.parse(
  readFileSync(new URL("./fixtures/recorded-tables.json", import.meta.url), "utf8"),
) as RecordedTable[];
const now = Date.parse("2026-11-21T10:00:00Z");

function columnsOf({ group, version, resource }: RecordedTable) {
  const found = builtinResources().find(
    (each) => each.group === group && each.version === version && each.resource === resource,
  );
  const columns = found?.columns ?? [];
  const name = {
    name: "Name",
    type: "string" as const,
    priority: 0,
    cell: (object: UnstructuredObject) => object.metadata.name ?? "",
  };
  return columns.some((column) => column.name === "Name") ? columns : [name, ...columns];
}

test.each(recorded.map((table) => [`${table.resource}.${table.group}/${table.version}`, table] as const))(
  "%s has the columns and cells of a real server",
  (_, table) => {
    const columns = columnsOf(table);
    expect(columns.map((each) => [each.name, each.type, each.priority ?? 0])).toEqual(table.columns);
    for (const { cells, object } of table.rows) {
      const ours = columns.map((column, index) => (cells[index] === null ? null : column.cell(object, now)));
      // A real server sends an age for IPAddresses that no column announces.
      expect(ours, object.metadata.name ?? "").toEqual(cells.slice(0, columns.length));
    }
  },
);
