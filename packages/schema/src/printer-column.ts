/** The columns that `kubectl get` prints for a kind. */
import type { CustomResourceColumn } from "./custom-resource-definition.ts";
import type { StructuralSchema } from "./structural-schema.ts";

interface ColumnOptions {
  readonly type?: CustomResourceColumn["type"];
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: number;
}

/** A column by a path that the compiler checks; its type comes from the schema. */
export interface PathColumn<Path extends string> extends ColumnOptions {
  readonly path: Path;
}

/** A column by any JSONPath, for what a plain path cannot reach. */
export interface JsonPathColumn extends ColumnOptions {
  readonly jsonPath: string;
}

/** A column of `kubectl get`: a field's path, a path with options, or a JSONPath. */
export type PrinterColumn<Path extends string> = Path | PathColumn<Path> | JsonPathColumn;

/** The age of the object. */
export function age(): JsonPathColumn {
  return { jsonPath: ".metadata.creationTimestamp", type: "date" };
}

/** The status of a condition: `Ready: conditionColumn("Ready")`. */
export function conditionColumn(type: string, options: ColumnOptions = {}): JsonPathColumn {
  return { jsonPath: `.status.conditions[?(@.type=="${type}")].status`, ...options };
}

export function customResourceColumn(
  name: string,
  column: PrinterColumn<string>,
  schema: StructuralSchema,
): CustomResourceColumn {
  if (typeof column === "string") return { name, type: columnType(schema, column), jsonPath: `.${column}` };
  if ("jsonPath" in column) return { name, type: "string", ...column };
  const { path, ...options } = column;
  return { name, type: columnType(schema, path), jsonPath: `.${path}`, ...options };
}

function columnType(schema: StructuralSchema, path: string): CustomResourceColumn["type"] {
  const node = schemaAt(schema, path);
  if (node?.format === "date-time") return "date";
  const type = node?.type;
  return type === "integer" || type === "number" || type === "boolean" ? type : "string";
}

/** The schema of the field at a dotted path. */
export function schemaAt(schema: StructuralSchema, path: string): StructuralSchema | undefined {
  let node: StructuralSchema | undefined = schema;
  for (const name of path.split(".")) {
    const additional: StructuralSchema | boolean | undefined = node?.additionalProperties;
    node = node?.properties?.[name] ?? (typeof additional === "object" ? additional : undefined);
  }
  return node;
}
