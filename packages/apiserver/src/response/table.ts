/** Objects as rows of a Table (meta.k8s.io/v1), with the columns of their definition. */
import { ApiError, failure, type KubeList, type UnstructuredObject } from "@setpoint/apimachinery";
import { relativeAge } from "./relative-age.ts";
import { badRequest } from "./api-errors.ts";
import { partialObjectMetadata } from "./partial-object-metadata.ts";
import type { PresentedKind, TableColumn } from "./table-column.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

const nameColumn: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a " +
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation " +
    "idempotence and configuration definition. Cannot be updated. More info: " +
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  cell: ({ metadata }) => metadata.name ?? "",
};

const ageColumn: TableColumn = {
  name: "Created At",
  type: "date",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to " +
    "be set in happens-before order across separate operations. Clients may not set this value. It is represented in " +
    "RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: " +
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  cell: ({ metadata }, now) => relativeAge(Date.parse(metadata.creationTimestamp ?? ""), now),
};

/**
 * Characters of the cells of one table, and what a cell takes without any. A CRD may show a large field in
 * thousands of columns, so that one small request would fill the memory.
 */
const tableUnitsMax = 16_000_000;
const cellUnits = 8;

export function parseIncludeObject(value: string): IncludeObject {
  if (value === "") return "Metadata";
  if (value === "None" || value === "Metadata" || value === "Object") return value;
  throw badRequest(
    `Unable to convert to Table as requested: unrecognized includeObject value: ${JSON.stringify(value)}`,
  );
}

export function tableOf(
  definition: PresentedKind,
  objects: readonly UnstructuredObject[],
  metadata: KubeList["metadata"],
  include: IncludeObject,
  now: number,
): object {
  const columns = columnsOf(definition);
  const columnDefinitions = columns.map(({ name, type, format = "", description = "", priority = 0 }) => {
    return { name, type, format, description, priority };
  });
  let units = 0;
  const cell = (column: TableColumn, object: UnstructuredObject): unknown => {
    const value = column.cell(object, now);
    units += cellUnits + (typeof value === "string" ? value.length : 0);
    if (units > tableUnitsMax) throw tableTooLarge();
    return value;
  };
  const rows = objects.map((object) => {
    const cells = columns.map((column) => cell(column, object));
    return { cells, object: rowObject(object, include) };
  });
  return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions, rows };
}

function tableTooLarge(): ApiError {
  const message = `the table would have more than ${tableUnitsMax} characters: ask for fewer objects with limit, or for the objects themselves`;
  return new ApiError(failure(413, "RequestEntityTooLarge", message));
}

/** Name and the columns of the kind; some kinds (Event) have a Name of their own, at another place. */
function columnsOf({ columns }: PresentedKind): readonly TableColumn[] {
  if (columns.length === 0) return [nameColumn, ageColumn];
  return columns.some(({ name }) => name === nameColumn.name) ? columns : [nameColumn, ...columns];
}

/** A table without its column definitions: on a watch only the first one carries them. */
export function withoutColumnDefinitions(table: object): object {
  return { ...table, columnDefinitions: null };
}

function rowObject(object: UnstructuredObject, include: IncludeObject): unknown {
  if (include === "None") return null;
  return include === "Object" ? object : partialObjectMetadata(object);
}
