import { apiVersionOf, matchesLabelSelector, type KubeObject, type LabelSelectorObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import { keyOf, outcome, watching, type ReconcileContext, type WatchDefinition } from "@setpoint/runtime";

/** Who claims, and what its selector is. */
export interface Claimer {
  readonly kind: KindRef;
  readonly object: Stored<KubeObject>;
  readonly selector: LabelSelectorObject | undefined;
  /** Children have it from their adoption to their release. */
  readonly finalizer?: string;
}

/**
 * The children of an owner: those that it owns and that match its selector. It adopts objects that match and
 * have no controller, for example those of a deleted owner, and releases children that no longer match: they
 * stay, without the owner reference.
 */
export async function claimChildren<T extends KubeObject>(
  of: KindRef<T>,
  claimer: Claimer,
  context: ReconcileContext,
  isWanted: (candidate: Stored<T>) => boolean = () => true,
): Promise<readonly Stored<T>[]> {
  const matches = (each: Stored<T>): boolean => matchesLabelSelector(claimer.selector, each.metadata.labels ?? {});
  const owned = context.children.list(of);
  for (const child of owned.filter((each) => !matches(each))) await release(child, claimer, context);
  const orphans = context.list(of).filter((each) => isOrphan(each) && isWanted(each) && matches(each));
  const mayAdopt = orphans.length > 0 && (await isStillOwner(claimer, context));
  const adopted = await Promise.all(mayAdopt ? orphans.map((orphan) => adopt(orphan, claimer, context)) : []);
  return [...owned.filter(matches), ...adopted.flat()];
}

/** A kind with a selector for its children. */
interface Selecting extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelectorObject };
}

/** A child without a controller wakes all owners of its namespace that would adopt it. */
export function watchingOrphans<T extends KubeObject, O extends KubeObject>(
  of: KindRef<T>,
  owner: KindRef<O>,
  selectorOf: (owner: O) => LabelSelectorObject | undefined = (each: Selecting) => each.spec?.selector,
): WatchDefinition<T> {
  return watching(of, (child, cache) =>
    isOrphan(child)
      ? cache
          .list(owner, { namespace: child.metadata.namespace })
          .filter((each) => matchesLabelSelector(selectorOf(each), child.metadata.labels ?? {}))
          .map(keyOf)
      : [],
  );
}

function isOrphan({ metadata }: Stored<KubeObject>): boolean {
  return metadata.deletionTimestamp === undefined && metadata.ownerReferences?.some((each) => each.controller) !== true;
}

/**
 * Asks the server: an owner that is deleted without its children, as a stale cache does not tell, would take
 * them back and so have them collected.
 */
async function isStillOwner({ kind, object }: Claimer, context: ReconcileContext): Promise<boolean> {
  const read = await outcome(context.client.get(kind, keyOf(object), { signal: context.signal }));
  if (read.kind === "unknown") throw read.error;
  if (read.kind !== "done") return false;
  const { uid, deletionTimestamp } = read.object.metadata;
  return uid === object.metadata.uid && deletionTimestamp === undefined;
}

/** A patch that the server refuses, because another owner was faster, is no failure of this run. */
async function adopt<T extends KubeObject>(
  orphan: Stored<T>,
  { kind, object, finalizer }: Claimer,
  context: ReconcileContext,
): Promise<readonly Stored<T>[]> {
  const { name, uid } = object.metadata;
  const owner = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const ownerReferences = [...(orphan.metadata.ownerReferences ?? []), owner];
  const { finalizers = [] } = orphan.metadata;
  const isMissing = finalizer !== undefined && !finalizers.includes(finalizer);
  const metadata = { ownerReferences, ...(isMissing ? { finalizers: [...finalizers, finalizer] } : {}) };
  const result = await outcome(context.patch(orphan, { metadata }, { unchanged: true }));
  if (result.kind === "unknown") throw result.error;
  return result.kind === "done" ? [result.object] : [];
}

async function release<T extends KubeObject>(
  child: Stored<T>,
  { object, finalizer }: Claimer,
  context: ReconcileContext,
): Promise<void> {
  if (child.metadata.deletionTimestamp !== undefined) return;
  const ownerReferences = child.metadata.ownerReferences?.filter(({ uid }) => uid !== object.metadata.uid) ?? [];
  const { finalizers = [] } = child.metadata;
  const isHeld = finalizer !== undefined && finalizers.includes(finalizer);
  const left = isHeld ? { finalizers: finalizers.filter((each) => each !== finalizer) } : {};
  await outcome(context.patch(child, { metadata: { ownerReferences, ...left } }, { unchanged: true }));
}
