import type { ObjectMeta } from "@setpoint/apimachinery";

export type MutableMeta = { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] };

/** The registry's own copy of an object before it is stored and frozen. */
export interface MutableObject {
  apiVersion: string;
  kind: string;
  metadata: MutableMeta;
  [field: string]: unknown;
}
