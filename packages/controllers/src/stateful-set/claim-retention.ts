/**
 * `persistentVolumeClaimRetentionPolicy`: a claim that goes with the set is owned by the set, one that goes
 * with its pod is owned by the pod when the pod is about to go for good.
 */
import { PersistentVolumeClaim, Pod, StatefulSet } from "@setpoint/api";
import { apiVersionOf, deepEqual, type OwnerReference } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { ReconcileContext } from "@setpoint/runtime";
import { claimsOf } from "./member-pod.ts";
import type { Seen, SeenPod } from "./seen.ts";

/** Writes the owners of the claims of all pods that exist, where they differ. */
export async function retainClaims(seen: Seen, context: ReconcileContext): Promise<void> {
  const policy = seen.set.spec?.persistentVolumeClaimRetentionPolicy;
  if (policy === undefined) return;
  for (const pod of seen.pods)
    for (const { metadata } of claimsOf(seen.set, pod.ordinal)) {
      const claim = context.get(PersistentVolumeClaim, metadata.name ?? "");
      if (claim !== undefined && claim.metadata.deletionTimestamp === undefined)
        await own(claim, ownersOf(claim, pod, seen), context);
    }
}

function ownersOf(claim: Stored<PersistentVolumeClaim>, pod: SeenPod, seen: Seen): readonly OwnerReference[] {
  const { whenDeleted, whenScaled } = seen.set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  const isCondemned = !seen.ordinals.includes(pod.ordinal);
  const others = (claim.metadata.ownerReferences ?? []).filter(({ kind }) => kind !== "Pod" && kind !== "StatefulSet");
  if (isCondemned && whenScaled === "Delete") return [...others, ownerOf(Pod, pod.pod)];
  return whenDeleted === "Delete" ? [...others, ownerOf(StatefulSet, seen.set)] : others;
}

function ownerOf(kind: KindRef, { metadata: { name, uid } }: Stored<Pod> | Stored<StatefulSet>): OwnerReference {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid };
}

async function own(
  claim: Stored<PersistentVolumeClaim>,
  ownerReferences: readonly OwnerReference[],
  context: ReconcileContext,
): Promise<void> {
  const before = claim.metadata.ownerReferences ?? [];
  const key = ({ kind, uid }: OwnerReference): string => `${kind}/${uid}`;
  if (deepEqual(before.map(key), ownerReferences.map(key))) return;
  await context.patch(claim, { metadata: { ownerReferences } }, { unchanged: true });
}
