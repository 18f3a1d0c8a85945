import { isForbidden, type KubeObject } from "@setpoint/apimachinery";
import type { DiscoveredResource } from "@setpoint/client";
import type { ReconcileContext } from "@setpoint/runtime";

export interface RemainingContent {
  /** What is still there: `pods. has 1 resource instances`. */
  readonly remaining: readonly string[];
  /** Why the server refused to delete some of it. */
  readonly refusals: readonly string[];
  /** How many objects each finalizer keeps. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/**
 * Deletes everything in a namespace, pods first (OrderedNamespaceDeletion); what is refused keeps nothing
 * else from being deleted.
 */
export async function deleteContent(
  namespace: string,
  { client, signal }: ReconcileContext,
): Promise<RemainingContent> {
  const refusals: string[] = [];
  const finalizers = new Map<string, number>();
  const { resources } = await client.discover({ signal });
  const deletable = resources.filter((each) => each.namespaced && each.preferred && isDeletable(each));
  const pods = deletable.filter((each) => each.group === "" && each.plural === "pods");
  const others = deletable.filter((each) => !pods.includes(each));
  for (const group of [pods, others]) {
    const remaining: string[] = [];
    for (const resource of group) {
      const count = await emptyResource(resource);
      if (count > 0) remaining.push(`${resource.plural}.${resource.group} has ${count} resource instances`);
    }
    if (remaining.length > 0) return { remaining, refusals, finalizers };
  }
  return { remaining: [], refusals, finalizers };

  async function emptyResource(resource: DiscoveredResource): Promise<number> {
    const options = { namespace, signal };
    const present = await client.listAll<KubeObject>(resource, { ...options, metadataOnly: true });
    if (present.items.length === 0) return 0;
    if (present.items.some((each) => each.metadata.deletionTimestamp === undefined))
      await client.deleteCollection(resource, options).catch((error: unknown) => {
        if (!isForbidden(error)) throw error;
        refusals.push(error.message);
      });
    const { items } = await client.listAll<KubeObject>(resource, { ...options, metadataOnly: true });
    for (const finalizer of items.flatMap((each) => each.metadata.finalizers ?? []))
      finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    return items.length;
  }
}

function isDeletable({ verbs }: DiscoveredResource): boolean {
  return verbs.includes("list") && verbs.includes("delete") && verbs.includes("deletecollection");
}
