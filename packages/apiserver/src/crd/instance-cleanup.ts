/** Deletes the objects of a CRD that goes away; those with finalizers are marked and stay until their owners let them go. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { type Clock, timestamp } from "@setpoint/host";
import type { Storage, StorageDecision } from "../storage/storage.ts";

const pathOf = ({ metadata }: UnstructuredObject): string =>
  metadata.namespace === undefined ? (metadata.name ?? "") : `${metadata.namespace}/${metadata.name ?? ""}`;

/** Deletes or marks every object below the prefix; the number of those that are still there afterwards. */
export async function deleteInstances(storage: Storage, prefix: string, clock: Clock): Promise<number> {
  const { objects } = storage.list(prefix);
  const decide = decideDeletion(clock);
  const results = await Promise.all(objects.map((object) => storage.write({ prefix, path: pathOf(object) }, decide)));
  return results.filter(({ object }) => (object?.metadata.finalizers ?? []).length > 0).length;
}

function decideDeletion(clock: Clock): StorageDecision {
  return (current) => {
    if (current === undefined) return "keep";
    const { metadata } = current;
    if ((metadata.finalizers ?? []).length === 0) return "delete";
    if (metadata.deletionTimestamp !== undefined) return "keep";
    const marked = {
      ...metadata,
      deletionTimestamp: timestamp(clock),
      deletionGracePeriodSeconds: 0,
      generation: (metadata.generation ?? 0) + 1,
    };
    return { ...current, metadata: marked };
  };
}
