import { PersistentVolume, PersistentVolumeClaim } from "@setpoint/api";
import type { Stored } from "@setpoint/client";
import { controller, watching, type ControllerDefinition, type ReconcileContext } from "@setpoint/runtime";

const finalizer = "kubernetes.io/pv-protection";

/**
 * Reports of each volume whether a claim has it, and lets a deleted volume go when none has. What a released
 * volume holds is removed by the provisioner that made it.
 */
export const volumePhases: ControllerDefinition = controller(PersistentVolume, {
  name: "persistentvolume-phase",
  reconcileDeleting: true,
  predicate: () => true,
  watches: [
    watching(PersistentVolumeClaim, ({ spec }) =>
      spec?.volumeName === undefined || spec.volumeName === "" ? [] : [{ name: spec.volumeName }],
    ),
  ],
  async reconcile(volume, context) {
    const phase = await phaseOf(volume, context);
    const { name, uid, deletionTimestamp, finalizers = [] } = volume.metadata;
    if (volume.status?.phase !== phase) {
      const options = { subresource: "status", signal: context.signal } as const;
      await context.client.patch(PersistentVolume, { name }, { metadata: { uid }, status: { phase } }, options);
    }
    if (deletionTimestamp === undefined || phase === "Bound" || !finalizers.includes(finalizer)) return;
    const others = finalizers.filter((each) => each !== finalizer);
    await context.patch(volume, { metadata: { finalizers: others } });
  },
});

async function phaseOf(
  { spec }: Stored<PersistentVolume>,
  context: ReconcileContext,
): Promise<"Available" | "Bound" | "Released"> {
  const { name = "", namespace, uid } = spec?.claimRef ?? {};
  // Without a UID it is only kept for a claim of this name.
  if (uid === undefined) return "Available";
  const cached = context.get(PersistentVolumeClaim, name, namespace);
  if (cached?.metadata.uid === uid) return "Bound";
  // A cache may have the volume and not yet its claim.
  const claim = await context.fresh(PersistentVolumeClaim, name, namespace);
  return claim?.metadata.uid === uid ? "Bound" : "Released";
}
