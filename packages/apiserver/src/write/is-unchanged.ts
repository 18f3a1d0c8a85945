/** Whether a write changes nothing. */
import { deepEqual, type JsonObject, type ManagedFieldsEntry, type UnstructuredObject } from "@setpoint/apimachinery";

/**
 * A write that changes only the times in managedFields is no change: a client that repeats the same write
 * must not trigger every watch. Nearly every write changes these times, so the rest is compared once, without
 * them.
 */
export function isUnchanged(next: UnstructuredObject, current: UnstructuredObject): boolean {
  const { managedFields = [] } = next.metadata;
  const { managedFields: managedBefore = [] } = current.metadata;
  return (
    managedFields.length === managedBefore.length &&
    managedFields.every((entry, index) => isSameButTime(entry, managedBefore[index])) &&
    isEqualBut("managedFields", next.metadata, current.metadata) &&
    isEqualBut("metadata", next, current)
  );
}

function isSameButTime(entry: ManagedFieldsEntry, before: ManagedFieldsEntry | undefined): boolean {
  return entry === before || (before !== undefined && isEqualBut("time", entry, before));
}

/** Whether two objects are equal in all fields but one. */
function isEqualBut(field: string, next: object, current: object): boolean {
  // Both are JSON.
  const [left, right] = [next as JsonObject, current as JsonObject];
  for (const name of Object.keys(left)) if (name !== field && !deepEqual(left[name], right[name])) return false;
  for (const name of Object.keys(right)) {
    if (name !== field && left[name] === undefined && right[name] !== undefined) return false;
  }
  return true;
}
