import type { KindRef } from "@setpoint/client";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Whether a kind's status has conditions; kinds without a schema at hand (built-in ones) are taken to. */
export function hasConditions(kind: KindRef): boolean {
  const { schema } = kind as { readonly schema?: Schema };
  return schema === undefined || schema.properties?.["status"]?.properties?.["conditions"] !== undefined;
}
