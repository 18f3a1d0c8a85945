/** The claims of a simulated pod are bound to volumes that hold nothing: models keep their data by claim. */
import { isAlreadyExists } from "@setpoint/apimachinery";
import type { ClusterApi } from "../cluster/cluster-api.ts";
import { claimKind, type PersistentVolume, volumeKind } from "../cluster/kinds.ts";
import { type Pod, podIdentity } from "../pod/pod.ts";
import { refuseLeaving } from "../volumes/refuse-leaving.ts";

/** Throws while a claim is missing or being deleted, so that the pod waits for it. */
export async function bindClaims(api: ClusterApi, pod: Pod, nodeName: string): Promise<void> {
  const { namespace } = podIdentity(pod);
  for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
    if (persistentVolumeClaim === undefined) continue;
    const key = { namespace, name: persistentVolumeClaim.claimName };
    const claim = await api.get(claimKind, key);
    refuseLeaving(claim, pod);
    if (claim.status?.phase === "Bound") continue;
    const volumeName = `pvc-${claim.metadata.uid ?? ""}`;
    const spec = {
      capacity: claim.spec.resources?.requests ?? {},
      accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Delete",
      ...(claim.spec.storageClassName === undefined ? {} : { storageClassName: claim.spec.storageClassName }),
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", ...key, uid: claim.metadata.uid ?? "" },
      hostPath: { path: `/simulated/${nodeName}/${volumeName}` },
    };
    const volume: PersistentVolume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: volumeName },
      spec,
    };
    await api.create(volumeKind, volume).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
    await api.patch(claimKind, key, { spec: { volumeName } });
    await api.patch(
      claimKind,
      key,
      { status: { phase: "Bound", capacity: spec.capacity, accessModes: spec.accessModes } },
      "status",
    );
  }
}
