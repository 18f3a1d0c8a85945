/**
 * Volumes that outlive their EtcdCluster: what marks them, and what keeps them from being deleted by the way.
 */
import { isClaimRetained, retain } from "@setpoint/data-service";
import { PersistentVolumeClaim } from "setpoint/kinds";
import { type ReconcileContext, rule } from "setpoint";
import { admissionPolicy, type AdmissionPolicy } from "setpoint/webhooks";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { labels } from "../kind/member-names.ts";

/** The labels of a claim that its cluster retains; null takes the mark off in a merge patch. */
export function retentionLabels(isRetained: boolean): Readonly<Record<string, string | null>> {
  return { [labels.deletionPolicy]: isRetained ? retain : null };
}

/** Whether nobody may delete a claim before its mark is taken off. */
export function isRetained(claim: PersistentVolumeClaim): boolean {
  return isClaimRetained(claim, labels.deletionPolicy);
}

/** The server refuses to delete marked claims: by name, with their namespace, or as garbage. */
export const retainedVolumes: AdmissionPolicy = admissionPolicy(
  PersistentVolumeClaim,
  [
    rule(
      `!has(oldObject.metadata.labels) || !('${labels.deletionPolicy}' in oldObject.metadata.labels) || oldObject.metadata.labels['${labels.deletionPolicy}'] != '${retain}'`,
      `the volume holds data of an EtcdCluster with deletionPolicy ${retain}: to delete it, remove the label ${labels.deletionPolicy} first`,
      { reason: "FieldValueForbidden" },
    ),
  ],
  { name: "etcd-operator-retained-volumes", operations: ["DELETE"] },
);

/**
 * Takes the volumes of a cluster away from the garbage collector and marks them, by what the server shows and
 * not the cache.
 */
export async function releaseVolumes(
  { metadata: { namespace = "", uid } }: EtcdCluster,
  { client, patch, event }: ReconcileContext,
): Promise<void> {
  const { items } = await client.listAll(PersistentVolumeClaim, { namespace });
  const ours = items.filter(({ metadata }) => metadata.annotations?.[labels.clusterUid] === uid);
  for (const claim of ours) {
    const ownerReferences = (claim.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
    await patch(claim, { metadata: { ownerReferences, labels: retentionLabels(true) } }, { unchanged: true });
  }
  const names = ours.map(({ metadata }) => metadata.name).join(", ");
  if (ours.length > 0)
    event("Warning", "VolumesRetained", `The definition of EtcdCluster is being deleted; the volumes stay: ${names}`);
}
