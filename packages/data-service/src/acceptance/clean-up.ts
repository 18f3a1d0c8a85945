/** Removes what an acceptance run has created. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { Backup } from "../kinds/backup.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { Restore } from "../kinds/restore.ts";
import { ServiceBinding } from "../kinds/service-binding.ts";
import { done, type StepReport, type SuiteContext, waiting } from "./check.ts";
import { read } from "./objects.ts";

/**
 * What a run creates: bindings and restores go before the instances that their own removal needs, stores
 * after the backups in them.
 */
function ownedStages(engineKind: KindRef): readonly (readonly KindRef[])[] {
  return [[ServiceBinding, Restore, Backup], [engineKind], [BackupStore, Pod, PersistentVolumeClaim]];
}

/** Deletes what is left, and waits until it is gone. */
export async function cleanUp(context: SuiteContext): Promise<StepReport> {
  const copies = await removeCopies(context);
  if (copies.state !== "done") return copies;
  for (const kinds of ownedStages(context.acceptance.engine.kind)) {
    const left = kinds.flatMap((kind) => context.api.children.list(kind).map((object) => ({ kind, object })));
    for (const { object } of left) await deleteOnce(object, context);
    if (left.length > 0)
      return waiting(`Removing ${left.map(({ kind, object }) => `${kind.kind} "${object.metadata.name}"`).join(", ")}`);
  }
  return done;
}

/** The instances that Restores of the run have created belong to nobody, so nobody else would remove them. */
export async function removeCopies(context: SuiteContext): Promise<StepReport> {
  const { kind } = context.acceptance.engine;
  for (const { spec, status } of context.api.children.list(Restore)) {
    if (status?.instanceUID === undefined || spec.newInstance === undefined) continue;
    const copy = await read(context, kind, spec.newInstance.name);
    if (copy === undefined || copy.metadata.uid !== status.instanceUID) continue;
    await deleteOnce(copy, context);
    return waiting(`Removing ${kind.kind} "${copy.metadata.name}"`);
  }
  return done;
}

/** In the foreground, so that an object is gone only after what belongs to it. */
async function deleteOnce(object: Stored<KubeObject>, { api }: SuiteContext): Promise<void> {
  if (object.metadata.deletionTimestamp === undefined) await api.delete(object, { propagation: "Foreground" });
}
