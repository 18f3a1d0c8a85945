import { isApiError } from "@setpoint/apimachinery";
import type { ReconcileContext } from "setpoint";
import type { Pod } from "setpoint/kinds";

/** Deletes pods by their UIDs; those that are being deleted already are left alone. */
export async function deletePods(
  pods: readonly Pod[],
  { delete: remove }: Pick<ReconcileContext, "delete">,
): Promise<void> {
  for (const pod of pods) if (pod.metadata.deletionTimestamp === undefined) await remove(pod);
}

/**
 * Whether a create was refused because its namespace is being deleted: then nothing can be done there any
 * more.
 */
export function isNamespaceEnding(error: unknown): boolean {
  return isApiError(error) && error.code === 403 && /being terminated|NamespaceTerminating/i.test(error.message);
}
