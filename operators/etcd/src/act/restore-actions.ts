/** Performs the steps of a restore. Each may be repeated: it does what is left. */
import type { ReconcileContext } from "setpoint";
import type { PersistentVolumeClaim } from "setpoint/kinds";
import { beforeRestore, setAsideBy } from "../kind/restore-names.ts";
import { labels } from "../kind/member-names.ts";
import { isRetained, retentionLabels } from "../resources/retained-volumes.ts";
import type { Actions } from "../plan/etcd-step.ts";
import { podState } from "../seen/seen.ts";
import type { Situation } from "../plan/situation.ts";

type Names = "stopMembers" | "exchangeVolumes" | "returnVolumes" | "deleteRestoredVolumes" | "deleteVolumesBefore";
type RestoreActionFunctions = {
  readonly [Name in Names]: (args: Actions[Name], context: ReconcileContext, seen: Situation) => Promise<void>;
};

export const restoreActions: RestoreActionFunctions = {
  async stopMembers(_, context, { members, givenUp }) {
    for (const { pod } of [...members, ...givenUp])
      if (pod !== undefined && podState(pod) !== "terminating") await context.delete(pod);
  },

  // The prepared volume comes last: once it is in use, all others are set aside.
  async exchangeVolumes({ id }, context, { cluster, restore }) {
    const { uid = "" } = cluster.metadata;
    const annotations = { [labels.clusterUid]: beforeRestore(uid), [setAsideBy]: id };
    for (const volume of restore.current) await annotate(volume, annotations, context);
    for (const volume of restore.prepared) await annotate(volume, { [labels.clusterUid]: uid }, context);
  },

  async returnVolumes(_, context, { cluster, restore }) {
    const annotations = { [labels.clusterUid]: cluster.metadata.uid ?? "" };
    for (const volume of restore.before) await annotate(volume, annotations, context);
  },

  deleteRestoredVolumes: (_, context, { restore }) => deleteVolumes(restore.restored, context),

  deleteVolumesBefore: (_, context, { restore }) => deleteVolumes([...restore.before, ...restore.older], context),
};

async function annotate(
  volume: PersistentVolumeClaim,
  annotations: Readonly<Record<string, string>>,
  { patch }: ReconcileContext,
): Promise<void> {
  await patch(volume, { metadata: { annotations } }, { unchanged: true });
}

async function deleteVolumes(volumes: readonly PersistentVolumeClaim[], context: ReconcileContext): Promise<void> {
  for (const volume of volumes) {
    if (volume.metadata.deletionTimestamp !== undefined) continue;
    if (isRetained(volume)) await context.patch(volume, { metadata: { labels: retentionLabels(false) } });
    await context.delete(volume);
  }
}
