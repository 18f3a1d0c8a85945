/**
 * Deletes the objects of a deleted CRD. Objects with finalizers get a deletionTimestamp and stay until their
 * controllers remove the finalizers.
 */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { type Clock, nextTurn, timestamp } from "@setpoint/host";
import type { Storage, StorageDecision } from "../../storage/storage.ts";

const pathOf = ({ metadata }: UnstructuredObject): string =>
  metadata.namespace === undefined ? (metadata.name ?? "") : `${metadata.namespace}/${metadata.name ?? ""}`;

/** Written together: one commit, and one turn of the event loop, for so many. */
const batchSize = 500;

/** Deletes or marks every object below the prefix; the number of those that are still there afterwards. */
export async function deleteInstances(storage: Storage, prefix: string, clock: Clock): Promise<number> {
  const { objects } = storage.list(prefix);
  const decide = decideDeletion(clock);
  let left = 0;
  for (let at = 0; at < objects.length; at += batchSize) {
    if (at > 0) await nextTurn(clock);
    const batch = objects.slice(at, at + batchSize);
    const results = await Promise.all(batch.map((object) => storage.write({ prefix, path: pathOf(object) }, decide)));
    left += results.filter(({ object }) => (object?.metadata.finalizers ?? []).length > 0).length;
  }
  return left;
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
