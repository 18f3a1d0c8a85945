/** Whether a write changes nothing. */
import { deepEqual, type UnstructuredObject } from "@setpoint/apimachinery";

/**
 * A write that changes only the times in managedFields is no change: a client that repeats the same write
 * must not trigger every watch.
 */
export function isUnchanged(next: UnstructuredObject, current: UnstructuredObject): boolean {
  return deepEqual(withoutTimes(next), withoutTimes(current));
}

function withoutTimes(object: UnstructuredObject): unknown {
  const { managedFields = [], ...metadata } = object.metadata;
  const managers = managedFields.map((entry) => ({ ...entry, time: undefined }));
  return { ...object, metadata: { ...metadata, managedFields: managers } };
}
