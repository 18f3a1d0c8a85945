/** Whether a write would store again what is stored. */
import { deepEqual, type ManagedFieldsEntry, type UnstructuredObject } from "@setpoint/apimachinery";

/**
 * Times of managers alone are no change: whoever writes the same again and again must not wake everybody up. They are in nearly every
 * write, so the rest is compared once, without them.
 */
export function isUnchanged(next: UnstructuredObject, current: UnstructuredObject): boolean {
  const { metadata, ...parts } = next;
  const { metadata: metadataBefore, ...partsBefore } = current;
  const { managedFields = [], ...fields } = metadata;
  const { managedFields: managedBefore = [], ...fieldsBefore } = metadataBefore;
  return (
    managedFields.length === managedBefore.length &&
    managedFields.every((entry, index) => isSameButTime(entry, managedBefore[index])) &&
    deepEqual(fields, fieldsBefore) &&
    deepEqual(parts, partsBefore)
  );
}

function isSameButTime(entry: ManagedFieldsEntry, before: ManagedFieldsEntry | undefined): boolean {
  return before !== undefined && deepEqual({ ...entry, time: before.time }, before);
}
