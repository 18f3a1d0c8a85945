/** The building blocks of columns: integers, texts, ages, and kubectl's text for absent values. */
import { formatAge, type UnstructuredObject } from "@setpoint/apimachinery";
import { isJsonObject, type JsonObject, objectAt, objectsAt, stringAt, valueAt, textOf } from "../json-fields.ts";
import type { TableColumn } from "../../response/table-column.ts";

type Cell = TableColumn["cell"];

export const none = "<none>";
/** Only with `-o wide`. */
export const wide = 1;

export function textColumn(name: string, cell: Cell, priority = 0): TableColumn {
  return { name, type: "string", priority, cell };
}

/** The text at a path. */
export function pathColumn(name: string, path: string, absent = "", priority = 0): TableColumn {
  const steps = path.split(".");
  return textColumn(name, (object) => displayed(valueAt(object, ...steps), absent), priority);
}

function displayed(value: unknown, absent: string): string | number {
  if (typeof value === "number") return value;
  return value === undefined || value === null || value === "" ? absent : textOf(value);
}

export function integerColumn(name: string, path: string): TableColumn {
  const steps = path.split(".");
  return { name, type: "integer", priority: 0, cell: (object) => numeric(valueAt(object, ...steps)) };
}

export function numeric(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

export function booleanColumn(name: string, path: string): TableColumn {
  const steps = path.split(".");
  return { name, type: "boolean", priority: 0, cell: (object) => valueAt(object, ...steps) === true };
}

export const ageColumn: TableColumn = {
  name: "Age",
  type: "string",
  description: "CreationTimestamp is a timestamp representing the server time when this object was created.",
  priority: 0,
  cell: (object, now) => formatAge(object.metadata.creationTimestamp, now),
};

/** What kinds without a printer of their own show: the time itself, which kubectl turns into an age. */
export const createdAtColumn: TableColumn = {
  name: "Created At",
  type: "date",
  description: "CreationTimestamp is a timestamp representing the server time when this object was created.",
  priority: 0,
  cell: (object) => object.metadata.creationTimestamp ?? null,
};

/** `a=b,c in (d,e)`: a LabelSelector, or the plain map of a Service or ReplicationController. */
export function selectorText(selector: unknown): string {
  if (!isJsonObject(selector)) return none;
  const isStructured = isJsonObject(selector["matchLabels"]) || Array.isArray(selector["matchExpressions"]);
  const labels = isStructured ? objectAt(selector, "matchLabels") : selector;
  const parts = Object.entries(labels)
    .filter(([, value]) => typeof value === "string")
    .map(([key, value]) => `${key}=${textOf(value)}`);
  for (const expression of objectsAt(selector, "matchExpressions")) parts.push(expressionText(expression));
  return parts.length === 0 ? none : parts.toSorted().join(",");
}

function expressionText(expression: JsonObject): string {
  const key = stringAt(expression, "key");
  const values = Array.isArray(expression["values"]) ? expression["values"].join(",") : "";
  switch (expression["operator"]) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "DoesNotExist":
      return `!${key}`;
    default:
      return key;
  }
}

/** Containers, Images and Selector of a workload, as `-o wide` shows them. */
export function workloadColumns(
  podSpecPath: readonly string[],
  selectorPath: readonly string[] | undefined,
): readonly TableColumn[] {
  const listed = (object: UnstructuredObject, field: string): string =>
    objectsAt(object, ...podSpecPath, "containers")
      .map((each) => stringAt(each, field))
      .join(",");
  const columns = [
    textColumn("Containers", (object) => listed(object, "name"), wide),
    textColumn("Images", (object) => listed(object, "image"), wide),
  ];
  if (selectorPath === undefined) return columns;
  return [...columns, textColumn("Selector", (object) => selectorText(valueAt(object, ...selectorPath)), wide)];
}

export const templateSpec: readonly string[] = ["spec", "template", "spec"];
