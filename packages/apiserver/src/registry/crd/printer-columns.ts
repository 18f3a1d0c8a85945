/** `additionalPrinterColumns` of a CRD as columns of a Table. */
import { encodeJson } from "@setpoint/apimachinery";
import type { TableColumn } from "../../response/table-column.ts";
import type { CrdColumn } from "./crd-object.ts";
import { compileJsonPath } from "./jsonpath.ts";
import { relativeAge } from "../../response/relative-age.ts";

type Cell = string | number | bigint | boolean | null;

const ageColumn: CrdColumn = {
  name: "Age",
  type: "date",
  description: "When the object was created.",
  jsonPath: ".metadata.creationTimestamp",
};

/** The columns after Name; a version without any shows the age. */
export function printerColumns(columns: readonly CrdColumn[] | undefined): readonly TableColumn[] {
  const declared = columns === undefined || columns.length === 0 ? [ageColumn] : columns;
  return declared.flatMap((each) => {
    const column = printerColumn(each);
    return column === undefined ? [] : [column];
  });
}

function printerColumn(column: CrdColumn): TableColumn | undefined {
  const { name = "", format, description, priority } = column;
  // The type was checked when the CRD was written.
  const type = column.type as TableColumn["type"];
  let read: (object: unknown) => unknown;
  try {
    read = compileJsonPath(column.jsonPath ?? "");
  } catch {
    // Upstream accepts some paths that it cannot read, and shows nothing for them.
    return undefined;
  }
  return {
    name,
    type,
    ...(format === undefined ? {} : { format }),
    description: description ?? `Custom resource definition column (in JSONPath format): ${column.jsonPath ?? ""}`,
    priority: priority ?? 0,
    cell: (object, now) => cellOf(type, read(object), now),
  };
}

function cellOf(type: TableColumn["type"], value: unknown, now: number): Cell {
  if (value === undefined || value === null) return null;
  switch (type) {
    case "string":
      return typeof value === "string" ? value : encodeJson(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    default:
      return typeof value === "string" ? age(value, now) : null;
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function age(value: string, now: number): string {
  if (!rfc3339.test(value)) return "<invalid>";
  const since = Date.parse(value);
  return Number.isNaN(since) ? "<invalid>" : relativeAge(since, now);
}
