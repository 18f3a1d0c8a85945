/** What the garbage collector does about one object; the rules are those of upstream's collector. */
import { gvkOf, isConflict, isNotFound, type KubeObject, type OwnerReference } from "@setpoint/apimachinery";
import type { Client, RestMapper } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { ownersOf, type GraphNode, type OwnerGraph } from "./owner-graph.ts";

const foregroundFinalizer = "foregroundDeletion";
const orphanFinalizer = "orphan";
/** A pod that starts has its status written a few times in a second. */
const orphanAttemptsMax = 5;

export interface CollectContext {
  readonly client: Client;
  readonly log: Logger;
  readonly graph: OwnerGraph;
  readonly mapper: RestMapper;
  enqueue(uid: string): void;
}

export async function collect(node: GraphNode, context: CollectContext): Promise<void> {
  const { object } = node;
  if (object.metadata.deletionTimestamp !== undefined) {
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(orphanFinalizer)) return orphanDependents(node, context);
    if (finalizers.includes(foregroundFinalizer)) return deleteDependentsFirst(node, context);
    return;
  }
  if (ownersOf(object).length > 0) await collectByOwners(node, context);
}

async function orphanDependents(node: GraphNode, context: CollectContext): Promise<void> {
  const { uid } = node.object.metadata;
  for (const dependent of context.graph.dependentsOf(uid)) await orphan(dependent, uid, context);
  await removeFinalizer(node, orphanFinalizer, context);
}

/**
 * The owner goes when this is done, and whatever names it still goes with it: a conflict is repeated, and
 * one that lasts is thrown.
 */
async function orphan(dependent: GraphNode, ownerUid: string, { client }: CollectContext): Promise<void> {
  const { kind } = dependent;
  const { uid } = dependent.object.metadata;
  try {
    for (let node = dependent, attempt = 1; node.object.metadata.uid === uid; attempt++) {
      const ownerReferences = ownersOf(node.object).filter((owner) => owner.uid !== ownerUid);
      try {
        await client.patch(kind, keyOf(node), patchOf(node, { ownerReferences }));
        return;
      } catch (error) {
        if (!isConflict(error) || attempt === orphanAttemptsMax) throw error;
      }
      node = { kind, object: await client.get(kind, keyOf(node)) };
    }
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function deleteDependentsFirst(node: GraphNode, context: CollectContext): Promise<void> {
  const { graph } = context;
  const { uid } = node.object.metadata;
  const blocking = graph.blockingDependentsOf(uid);
  if (blocking.length === 0) return removeFinalizer(node, foregroundFinalizer, context);
  if (graph.reachesItself(uid, ({ object }) => isWaiting(object))) return unblockOwners(node, context);
  // One that is being deleted reports its own end; enqueueing it would only bring it back here.
  for (const { object } of blocking)
    if (object.metadata.deletionTimestamp === undefined) context.enqueue(object.metadata.uid);
}

type OwnerState = "solid" | "dangling" | "waiting";

async function collectByOwners(node: GraphNode, context: CollectContext): Promise<void> {
  const { object } = node;
  const states = new Map<string, OwnerState>();
  for (const owner of ownersOf(object)) states.set(owner.uid, await ownerState(node, owner, context));
  const values = [...states.values()];
  if (values.includes("solid")) {
    if (values.some((state) => state !== "solid"))
      await removeOwners(node, (owner) => states.get(owner.uid) !== "solid", context);
    return;
  }
  const hasDependents = context.graph.dependentsOf(object.metadata.uid).length > 0;
  const foreground = values.includes("waiting") && hasDependents;
  await deleteObject(node, foreground ? "Foreground" : "Background", context);
}

/**
 * Whether an object that is not being deleted is to stay: it has no owners, or all are known to be there and
 * none waits for it.
 */
export function isHeld(object: KubeObject, graph: OwnerGraph): boolean {
  return ownersOf(object).every((owner) => {
    const known = graph.get(owner.uid);
    return known !== undefined && !isWaiting(known.object);
  });
}

async function ownerState(node: GraphNode, owner: OwnerReference, context: CollectContext): Promise<OwnerState> {
  const known = context.graph.get(owner.uid);
  if (known !== undefined) return isWaiting(known.object) ? "waiting" : "solid";
  const kind = context.mapper.ofKind(gvkOf(owner));
  // An owner of a kind that the server does not know may come back with its kind; it is not proof of absence.
  if (kind === undefined) return "solid";
  const { namespace } = node.object.metadata;
  if (kind.namespaced && namespace === undefined) {
    context.log.warn("Owner in a namespace cannot own a cluster-scoped object", {
      kind: node.kind.kind,
      name: node.object.metadata.name,
      owner: owner.name,
    });
    return "solid";
  }
  // The graph may only be late: ask the server before anything is deleted.
  try {
    const found = await context.client.get(kind, {
      name: owner.name,
      ...(kind.namespaced && namespace !== undefined ? { namespace } : {}),
    });
    if (found.metadata.uid !== owner.uid) return "dangling";
    return isWaiting(found) ? "waiting" : "solid";
  } catch (error) {
    if (isNotFound(error)) return "dangling";
    throw error;
  }
}

function isWaiting(owner: KubeObject): boolean {
  return (
    owner.metadata.deletionTimestamp !== undefined && (owner.metadata.finalizers ?? []).includes(foregroundFinalizer)
  );
}

function keyOf({ object }: GraphNode): { readonly name: string; readonly namespace?: string } {
  const { name, namespace } = object.metadata;
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

async function deleteObject(
  node: GraphNode,
  policy: "Foreground" | "Background",
  { client }: CollectContext,
): Promise<void> {
  const orphan = node.object.metadata.finalizers?.includes(orphanFinalizer);
  await unlessGone(
    client.delete(node.kind, keyOf(node), {
      propagationPolicy: orphan ? "Orphan" : policy,
      preconditions: { uid: node.object.metadata.uid },
    }),
  );
}

async function removeOwners(
  node: GraphNode,
  isRemoved: (owner: OwnerReference) => boolean,
  { client }: CollectContext,
): Promise<void> {
  const ownerReferences = ownersOf(node.object).filter((owner) => !isRemoved(owner));
  await unlessGone(client.patch(node.kind, keyOf(node), patchOf(node, { ownerReferences })));
}

/**
 * Members of a circle wait for each other: none of them blocks its owners any longer, so all of them can go.
 */
async function unblockOwners(node: GraphNode, { client }: CollectContext): Promise<void> {
  const ownerReferences = ownersOf(node.object).map((owner) =>
    owner.blockOwnerDeletion === true ? { ...owner, blockOwnerDeletion: false } : owner,
  );
  await unlessGone(client.patch(node.kind, keyOf(node), patchOf(node, { ownerReferences })));
}

async function removeFinalizer(node: GraphNode, finalizer: string, { client }: CollectContext): Promise<void> {
  const finalizers = (node.object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  await unlessGone(client.patch(node.kind, keyOf(node), patchOf(node, { finalizers })));
}

/** Lists are replaced whole, so the patch holds only for what was seen. */
function patchOf(node: GraphNode, metadata: object): object {
  const { uid, resourceVersion } = node.object.metadata;
  return { metadata: { uid, resourceVersion, ...metadata } };
}

/**
 * An object that is gone, or another one of its name, needs nothing more; one that changed comes again with
 * its change.
 */
async function unlessGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
