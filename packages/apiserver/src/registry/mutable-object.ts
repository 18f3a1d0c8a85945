import type { ObjectMeta } from "@setpoint/apimachinery";

export type MutableMeta = { -readonly [K in keyof ObjectMeta]: ObjectMeta[K] };

/** Without managers the field is absent, not an empty list, as in kube-apiserver. */
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
