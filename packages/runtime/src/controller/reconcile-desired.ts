import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { ControllerDefinition } from "./controller-definition.ts";
import type { Desired, DesiredOptions, OwnedKinds, OwnedObjects } from "./controller-options.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { awaitChange, requeueAfter } from "./result.ts";

/** How soon a run repeats that found its own object changed on the server, where the cache did not show it yet. */
const staleRetryMs = 100;

/** A reconcile that applies the children and the status that a pure function asks for, and deletes children it no longer does. */
export function reconcileDesired<T extends KubeObject>(
  kind: KindRef<T>,
  options: DesiredOptions<T, OwnedKinds>,
): ControllerDefinition["reconcile"] {
  const owns = options.owns ?? {};
  return async (object, context) => {
    const pruned = await context.applySet(ask(options, owns, object, context).children);
    // Asked again, now that the children are there: a status that counts them is right in the same run, and is one write.
    const { conditions = [], status } = ask(options, owns, object, context);
    context.condition(...conditions);
    if (status !== undefined) await context.status(status);
    return pruned.kind === "done" ? awaitChange() : requeueAfter(staleRetryMs, pruned.reason);
  };
}

function ask<T extends KubeObject>(
  options: DesiredOptions<T, OwnedKinds>,
  owns: OwnedKinds,
  object: Stored<KubeObject>,
  context: ReconcileContext,
): Desired {
  const owned: Record<string, readonly Stored<KubeObject>[]> = {};
  for (const [name, kind] of Object.entries(owns)) owned[name] = context.owned(kind);
  // The names and kinds of `owned` are those of `owns` by construction.
  return options.desired(object as Stored<T>, owned as OwnedObjects<OwnedKinds>, context);
}
