import type { UnstructuredObject } from "@setpoint/apimachinery";

/** A column of a Table; `cell` renders one object. */
export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority?: number;
  cell(object: UnstructuredObject, now: number): string | number | bigint | boolean | null;
}

/** What a Table and a list need to know of a kind. */
export interface PresentedKind {
  /** Columns after Name; when empty: Age. */
  readonly columns: readonly TableColumn[];
  readonly custom: boolean;
}
