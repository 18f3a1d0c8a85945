import type { KindRef } from "@setpoint/client";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The schema of a field of a kind's status; "unknown" for kinds without a schema at hand (built-in ones). */
export function statusField(kind: KindRef, field: string): Schema | "unknown" | undefined {
  const { schema } = kind as { readonly schema?: Schema };
  return schema === undefined ? "unknown" : schema.properties?.["status"]?.properties?.[field];
}

/** Whether a kind's status has conditions; kinds without a schema at hand (built-in ones) are taken to. */
export function hasConditions(kind: KindRef): boolean {
  return statusField(kind, "conditions") !== undefined;
}

/** Whether a kind's own schema says that its status has this field. */
export function declaresStatusField(kind: KindRef, field: string): boolean {
  const found = statusField(kind, field);
  return found !== undefined && found !== "unknown";
}
