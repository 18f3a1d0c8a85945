import type { ObjectMeta } from "@setpoint/apimachinery";

export type MutableMeta = { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] };

/** Nobody's fields are not an empty list: the real server leaves it out. */
export function setManagers(metadata: MutableMeta, managers: NonNullable<MutableMeta["managedFields"]>): void {
  if (managers.length === 0) delete metadata.managedFields;
  else metadata.managedFields = managers;
}

/** The registry's own copy of an object before it is stored and frozen. */
export interface MutableObject {
  apiVersion: string;
  kind: string;
  metadata: MutableMeta;
  [field: string]: unknown;
}
