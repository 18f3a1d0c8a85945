/** Whether a write would store again what is stored. */
import { deepEqual, type ManagedFieldsEntry, type UnstructuredObject } from "@setpoint/apimachinery";

/** Times of managers alone are no change: whoever writes the same again and again must not wake everybody up. */
export function isUnchanged(next: UnstructuredObject, current: UnstructuredObject): boolean {
  if (deepEqual(next, current)) return true;
  const { managedFields: managers = [] } = next.metadata;
  const { managedFields: before = [] } = current.metadata;
  if (managers.length === 0 || managers.length !== before.length) return false;
  const timed = managers.map((entry, index) => withTimeOf(entry, before[index]?.time));
  return deepEqual({ ...next, metadata: { ...next.metadata, managedFields: timed } }, current);
}

function withTimeOf(entry: ManagedFieldsEntry, time: string | undefined): ManagedFieldsEntry {
  const { time: _, ...rest } = entry;
  return time === undefined ? rest : { ...rest, time };
}
