import { groupResource, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { Desired, DesiredOptions, OwnedKinds, OwnedObjects } from "./controller-options.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { awaitChange, requeueAfter } from "./result.ts";
import { isAppliedBy } from "../objects/applied-mark.ts";

/** How soon a run repeats that found its own object changed on the server, where the cache did not show it yet. */
const staleRetryMs = 100;

/** A reconcile that applies the children and the status that a pure function asks for, and deletes children it no longer does. */
export function reconcileDesired<T extends KubeObject>(
  kind: KindRef<T>,
  options: DesiredOptions<T, OwnedKinds>,
): ControllerDefinition["reconcile"] {
  const owns = options.owns ?? {};
  return async (object, context) => {
    const { owned, desired } = ask(options, owns, object, context);
    const surplus = surplusOf(owned, desired.children, object, context.fieldManager);
    for (const child of desired.children) await context.apply(child);
    const isPruned = await prune(surplus, kind, object, context);
    // Asked again, now that the children are there: a status that counts them is right in the same run, and is one write.
    const { conditions = [], status } = ask(options, owns, object, context).desired;
    for (const condition of conditions) context.condition(condition);
    if (status !== undefined) await context.status(status);
    return isPruned ? awaitChange() : requeueAfter(staleRetryMs, "the object has changed meanwhile");
  };
}

interface Answer {
  readonly owned: Readonly<Record<string, readonly Stored<KubeObject>[]>>;
  readonly desired: Desired;
}

function ask<T extends KubeObject>(
  options: DesiredOptions<T, OwnedKinds>,
  owns: OwnedKinds,
  object: Stored<KubeObject>,
  context: ReconcileContext,
): Answer {
  const owned: Record<string, readonly Stored<KubeObject>[]> = {};
  for (const [name, kind] of Object.entries(owns)) owned[name] = context.owned(kind);
  // The names and kinds of `owned` are those of `owns` by construction.
  return { owned, desired: options.desired(object as Stored<T>, owned as OwnedObjects<OwnedKinds>, context) };
}

/** What this controller applied earlier and does not want any more; what others made for the object stays. */
function surplusOf(
  owned: Readonly<Record<string, readonly Stored<KubeObject>[]>>,
  children: readonly KubeObject[],
  parent: KubeObject,
  fieldManager: string,
): readonly Stored<KubeObject>[] {
  const wanted = new Set(children.map((child) => idOf(child, parent.metadata.namespace)));
  return Object.values(owned)
    .flat()
    .filter((child) => isAppliedBy(child, fieldManager) && child.metadata.deletionTimestamp === undefined)
    .filter((child) => !wanted.has(idOf(child, undefined)));
}

function idOf(object: KubeObject, defaultNamespace: string | undefined): string {
  const group = groupResource({ group: object.apiVersion.split("/").slice(0, -1).join("/"), resource: object.kind });
  return `${group}/${object.metadata.namespace ?? defaultNamespace ?? ""}/${object.metadata.name ?? ""}`;
}

/** Deletes nothing on an old view: the parent must be on the server what the function was given. */
async function prune(
  surplus: readonly Stored<KubeObject>[],
  kind: KindRef,
  parent: Stored<KubeObject>,
  context: ReconcileContext,
): Promise<boolean> {
  if (surplus.length === 0) return true;
  const now = await context.fresh(kind, parent.metadata.name, parent.metadata.namespace);
  const isSame = now?.metadata.uid === parent.metadata.uid && now.metadata.generation === parent.metadata.generation;
  if (!isSame) return false;
  for (const child of surplus) await context.delete(child);
  return true;
}
