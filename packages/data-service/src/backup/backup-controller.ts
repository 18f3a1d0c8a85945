/** Reconciles Backups of one engine: store, verify, and delete with the object what was stored. */
import type { ConditionInit, KindRef, KubeObject, ReconcileContext, Result } from "setpoint";
import { PodFailures } from "setpoint/pods";
import { controller, keyOf, watching } from "setpoint";
import { Pod } from "setpoint/kinds";
import { type EngineControl } from "../engine/control.ts";
import { Backup } from "../kinds/backup.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { selectionOf } from "../kinds/selection.ts";
import type { ControllerOptions } from "../transfer/controller-options.ts";
import { deletePods } from "../transfer/delete-pods.ts";
import { storeRequest } from "../transfer/store-mounts.ts";
import { transferPod } from "../transfer/transfer-pod.ts";
import { type BackupActions, type BackupStatus, decideBackup } from "./decide-backup.ts";
import { deleteStored } from "./delete-stored.ts";
import { leftPods, observeBackup, type SeenBackup, sourceOf } from "./seen-backup.ts";

/** The controller of Backups whose instances are of this engine; it ignores all others. */
export function backupController<Instance extends KubeObject>(
  engine: EngineControl<Instance>,
  { image }: ControllerOptions,
): ReturnType<typeof controller> {
  const failures = new PodFailures();
  return controller<Backup, SeenBackup, BackupActions>(Backup, {
    name: `${engine.name}-backup`,
    select: { fieldSelector: selectionOf(engine.kind) },
    owns: [Pod],
    watches: [
      watching(BackupStore, (store, cache) =>
        cache
          .list(Backup, { namespace: store.metadata.namespace })
          .filter(({ spec }) => spec.store === store.metadata.name)
          .map(keyOf),
      ),
      watching<KubeObject>(engine.kind as KindRef, (instance, cache) =>
        cache
          .list(Backup, { namespace: instance.metadata.namespace })
          .filter(({ spec }) => spec.instance.name === instance.metadata.name)
          .map(keyOf),
      ),
    ],
    observe: (backup, context) => observeBackup(backup, context, engine, { image, failures }),
    plan: (seen) => decideBackup(seen).step,
    status: (seen) => decideBackup(seen).status,
    conditions: (seen) => [succeeded(decideBackup(seen).status)],
    actions: {
      startTransfer: (args, context, seen) => startTransfer(args, context, seen, engine.name),
      async finish({ failure }, { event }) {
        if (failure !== undefined) event("Warning", "BackupFailed", failure);
      },
      deletePods: (_, context, seen) => deletePods(leftPods(seen), context),
    },
    cleanup: (backup, context) => deleteStored(backup, context, engine.name, image),
  });
}

async function startTransfer(
  { pod, task, object }: BackupActions["startTransfer"],
  { create }: ReconcileContext,
  seen: SeenBackup,
  engine: string,
): Promise<Result | void> {
  const { backup, store, image } = seen;
  const { namespace = "" } = backup.metadata;
  const takes = task === "backup";
  const source = sourceOf(seen);
  // Without them the decision is to wait.
  if (store === undefined || image === undefined || (takes && source === undefined)) return;
  const target = { engine, store: storeRequest(store), object };
  const transfer = {
    ...{ name: pod, namespace, owner: "backup", store, image, deadlineSeconds: backup.spec.deadlineSeconds },
    request: takes ? { task, ...target, source: source?.request } : { task, ...target, expected: expectedOf(backup) },
    sourceSecrets: takes ? source?.secretNames : undefined,
  };
  await create(transferPod(transfer));
}

/** A store may have been exchanged for an older one, which is consistent in itself. */
export function expectedOf({ status }: Backup): { sha256: string; encryptionKey?: string } | undefined {
  const { sha256, encryptionKey } = status ?? {};
  if (sha256 === undefined) return undefined;
  return { sha256, ...(encryptionKey === undefined ? {} : { encryptionKey }) };
}

function succeeded({ phase, message = "" }: BackupStatus): ConditionInit {
  if (phase === "Succeeded")
    return {
      type: "Succeeded",
      status: "True",
      reason: "Verified",
      message: "The stored data were read back and are complete",
    };
  if (phase === "Failed") return { type: "Succeeded", status: "False", reason: "Failed", message };
  return { type: "Succeeded", status: "Unknown", reason: phase, message };
}
