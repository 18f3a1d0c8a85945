import { matchesLabelSelector, apiVersionOf, type KubeObject, type LabelSelectorObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { ReconcileContext } from "@setpoint/runtime";

/** Who adopts, and what its selector is. */
export interface Adopter {
  readonly kind: KindRef;
  readonly object: Stored<KubeObject>;
  readonly selector: LabelSelectorObject | undefined;
}

/** Adopts objects that match the selector and have no controller, for example those of a deleted owner. */
export async function adoptOrphans<T extends KubeObject>(
  of: KindRef<T>,
  { kind, object, selector }: Adopter,
  context: ReconcileContext,
  isWanted: (candidate: Stored<T>) => boolean = () => true,
): Promise<void> {
  if (object.metadata.deletionTimestamp !== undefined) return;
  const { name, uid } = object.metadata;
  const owner = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const orphans = context
    .list(of)
    .filter((each) => each.metadata.deletionTimestamp === undefined && isWanted(each))
    .filter((each) => each.metadata.ownerReferences?.some((reference) => reference.controller) !== true)
    .filter((each) => matchesLabelSelector(selector, each.metadata.labels ?? {}));
  for (const orphan of orphans) {
    const ownerReferences = [...(orphan.metadata.ownerReferences ?? []), owner];
    await context.patch(orphan, { metadata: { ownerReferences } }, { unchanged: true });
  }
}
