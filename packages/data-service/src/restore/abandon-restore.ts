/** What becomes of an instance when its Restore is deleted. */
import type { KubeObject, ReconcileContext, Result, Stored } from "setpoint";
import { seconds } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { EngineControl } from "../engine/control.ts";
import { restoreAnnotation, type RestoreMark, restoreMarkOf } from "../engine/restore-mark.ts";
import type { Restore } from "../kinds/restore.ts";
import { deletePods } from "../transfer/delete-pods.ts";
import { transferResult } from "../transfer/transfer-result.ts";
import { targetName } from "./restore-phase.ts";
import { dataFolderPaths, restoreIdOf } from "./seen-restore.ts";

const checkMs = seconds(5);

/**
 * A restore in place that has not finished goes back to the previous data; after one that has, the volumes
 * from before go. A new instance that never got its data is deleted.
 */
export async function abandonRestore<Instance extends KubeObject>(
  restore: Stored<Restore>,
  context: ReconcileContext,
  engine: EngineControl<Instance>,
): Promise<Result | void> {
  const { namespace } = restore.metadata;
  const id = restoreIdOf(restore);
  const target = await context.fresh(engine.kind, targetName(restore), namespace);
  const mark = target === undefined ? undefined : restoreMarkOf(target);
  if (target === undefined || mark === undefined || mark.id !== id || mark.state === "done") return;
  if (mark.state === "waiting") return context.delete(target);
  const set = async (state: RestoreMark["state"]): Promise<void> => {
    await context.patch(target, { metadata: { annotations: restoreAnnotation({ id, state }) } }, { unchanged: true });
  };
  const { serving, restored, stoppedFor } = engine.state(target);
  if (mark.state === "start" && (restored === id || restore.spec.inPlace === undefined)) return set("done");
  await deletePods(
    context.children.list(Pod).filter((pod) => transferResult(pod) === undefined),
    context,
  );
  if (mark.state !== "back") await set("back");
  if (mark.state !== "back" || !serving || restored === id || stoppedFor === id)
    return context.requeueAfter(checkMs, "the instance goes back to its previous data");
  const { claim } = engine.dataFolder(target, id, dataFolderPaths);
  const prepared = context.get(PersistentVolumeClaim, claim.metadata.name ?? "", namespace);
  if (prepared !== undefined) await context.delete(prepared);
}
